"""Text classifiers with and without the names of categories, some of which have no documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist import datasets
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work.news import FIRST_SEED, drawn
from taxonomist.experiments.work.set_measures import measured
from taxonomist.experiments.work.trials import identities, joined_results

if TYPE_CHECKING:
    from taxonomist._typing import Bools, Codes
    from taxonomist.taxonomy import Taxonomy
    from taxonomist.text import TextClassifier

__all__ = ["few_postings", "hidden_trial"]

HIDDEN_SHARE = 0.1
"""Share of the categories whose documents are hidden."""
TEST_SHARE = 0.3
"""Share of the documents of other categories that are tested."""


class HiddenData(NamedTuple):
    """Documents, some of whose categories are hidden."""

    texts: list[str]
    y: list[str]
    ids: list[str]
    taxonomy: Taxonomy
    is_test: Bools
    is_hidden: Bools


def hidden_trial(
    corpus: str, *, names: str, most: int, vectors: str = "off", **options: str
) -> Result:
    """Measure a text classifier on hidden and on other categories.

    Parameters
    ----------
    corpus
        A named corpus.
    names, vectors
        Parameters of ``TextClassifier``.
    most
        Documents at most.
    **options
        Options of the corpus.

    Returns
    -------
    Result
        The measures of :func:`measured`, with ``hidden`` in front for documents of hidden
        categories, which are all tested, and ``seen`` for test documents of others.
    """
    data = _hidden_data(corpus, most, **options)
    model = _fitted(data, np.flatnonzero(~data.is_test & ~data.is_hidden), names, vectors)
    values: dict[str, list[float]] = {"n_categories": [float(len({*data.y}))]}
    items: dict[str, list[float]] = {}
    item_ids: dict[str, list[str]] = {}
    tested = {"seen": data.is_test & ~data.is_hidden, "hidden": data.is_hidden}
    for kind, is_tested in tested.items():
        places = np.flatnonzero(is_tested)
        predicted = list(model.predict([data.texts[i] for i in places]))
        truth, ids = [data.y[i] for i in places], [data.ids[i] for i in places]
        found = measured(truth, predicted, data.taxonomy, ids)
        values |= {f"{kind} {name}": of for name, of in found.values.items()}
        values[f"{kind} n_items"] = [float(len(places))]
        items |= {f"{kind} {name}": of for name, of in found.items.items()}
        item_ids |= {f"{kind} {name}": of for name, of in found.item_ids.items()}
    return Result(values, items, item_ids=item_ids)


def few_postings(size: int, *, names: str, n_draws: int, n_test: int) -> Result:
    """Measure a text classifier on draws of a few postings of 15 newsgroups.

    Parameters
    ----------
    size
        Postings of each group for training.
    names
        The parameter of ``TextClassifier``.
    n_draws, n_test
        Number of draws, and of test postings of each.
    """
    corpus = datasets.load("20newsgroups", tree="15")
    y, texts, ids = np.asarray(corpus.y), list(corpus.texts or ()), identities(corpus)
    found = []
    for draw in range(n_draws):
        train, test = drawn(y, size, n_test, FIRST_SEED + draw)
        nothing = np.zeros(len(y), dtype=bool)
        data = HiddenData(texts, y.tolist(), list(ids), corpus.taxonomy, nothing, nothing)
        predicted = _fitted(data, train, names).predict([texts[i] for i in test])
        of_test = [ids[i] for i in test]
        found.append(measured(y[test].tolist(), list(predicted), corpus.taxonomy, of_test))
    return joined_results(found)


def _fitted(data: HiddenData, train: Codes, names: str, vectors: str = "off") -> TextClassifier:
    """Return a classifier with all defaults but names and vectors."""
    from taxonomist.text import TextClassifier

    model = TextClassifier(data.taxonomy, names=names, vectors=vectors, budget=None)
    return model.fit([data.texts[i] for i in train], [data.y[i] for i in train])


def _hidden_data(name: str, most: int, **options: str) -> HiddenData:
    """Return documents with one label each, of which a tenth of the categories is hidden."""
    corpus = datasets.load(name, **options)
    wanted = np.flatnonzero([len(row) == 1 for row in corpus.labels])
    rng = np.random.default_rng(0)
    corpus = corpus.select(np.sort(rng.permutation(wanted)[:most]))
    y = [row[0] for row in corpus.labels]
    used = sorted({*y})
    hidden = {*rng.permutation(used)[: max(1, round(HIDDEN_SHARE * len(used)))].tolist()}
    is_hidden = np.array([label in hidden for label in y])
    is_test = rng.random(len(y)) < TEST_SHARE
    taxonomy = corpus.taxonomy.prune(used)
    return HiddenData(
        list(corpus.texts or ()), y, list(identities(corpus)), taxonomy, is_test, is_hidden
    )
