"""No estimator keeps items x categories or features x nodes, or it refuses data of that size."""

import re
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack

from taxonomist import (
    CalibratedClassifier,
    HierarchicalSVC,
    NumberedClassifier,
    PathSVC,
    Taxonomy,
    TextClassifier,
)
from taxonomist.errors import DataSizeError, ParameterError
from taxonomist.models import LidstoneNB, path_learning
from taxonomist.models.dense_arrays import dense_limit_gib
from taxonomist.text import negatives
from tests.contract.estimators import CLASSIFIERS

ON_LINUX = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux resets the peak of memory of a process"
)

SIZES = (6000, 12000)
"""Numbers of items and of categories; there are four times as many features.

Many steps work in blocks of a fixed size, which both sizes exceed.
"""

COUNT_SIZES = (1500, 3000)
"""The same for models of word counts, which take longer; they score no training items."""

HELD_OUT_SIZES = (3000, 6000)
"""The same for models of word counts that score held-out items, in blocks of up to 128 MB."""

LIMIT_MIB = 32
"""Limit on a dense array, which is passed by each dense array at the larger size."""

INNER = {
    CalibratedClassifier: [{"model": LidstoneNB()}, {"model": HierarchicalSVC()}],
    NumberedClassifier: [{"model": LidstoneNB()}, {"model": HierarchicalSVC()}],
}
"""Models inside models: one that is sparse, and one that is not."""


def cases():
    """Yield every estimator, for one label per item and for label sets, as parameters."""
    for kind in CLASSIFIERS:
        for given in INNER.get(kind, [{}]):
            model = kind(**given)
            inner = given.get("model", model)
            takes_sets = kind is not NumberedClassifier and inner.traits.label_sets
            # For label sets, PathSVC keeps the margins of 1,024 items; it has a test of its own.
            takes_sets = takes_sets and kind is not PathSVC
            for are_sets in [False, True] if takes_sets else [False]:
                # Models of word counts take long for the scores of held-out items.
                is_held_out = are_sets or kind is CalibratedClassifier
                is_long = is_held_out and inner.traits.takes_counts and not inner.traits.dense
                marks = [pytest.mark.slow] if is_long else []
                name = f"{model!r}-{'sets' if are_sets else 'single'}"
                yield pytest.param(model, are_sets, id=name, marks=marks)


def problem(size):
    """Counts of 8 words in each of ``size`` short texts, and their categories, two levels down."""
    rng = np.random.default_rng(0)
    groups = [f"g{place % 60}" for place in range(size)]
    taxonomy = Taxonomy([*zip(groups, [f"c{k}" for k in range(size)], strict=True)])
    labels = rng.integers(size, size=size)
    words = np.concatenate([labels[:, None] * 4, rng.integers(4 * size, size=(size, 7))], axis=1)
    rows = np.repeat(np.arange(size), 8)
    X = csr_matrix((np.ones(8 * size), (rows, words.ravel())), shape=(size, 4 * size))
    return taxonomy, X, np.array([f"c{label}" for label in labels])


def fitted_peak(peak_mib, model, size, are_sets):
    """MiB that ``fit`` takes, and the answers for few items."""
    taxonomy, X, y = problem(size)
    if isinstance(model, NumberedClassifier):
        y = np.array([int(label[1:]) for label in y])
    elif isinstance(model, CalibratedClassifier):
        model.set_params(model__taxonomy=taxonomy)
    else:
        model.set_params(taxonomy=taxonomy)
    if are_sets:
        y = [[label, f"c{place}"] for place, label in enumerate(y)]
    return peak_mib(lambda: model.fit(X, y).predict(X[:50]))


@ON_LINUX
@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize(("model", "are_sets"), list(cases()))
def test_memory_grows_with_the_data_or_the_size_is_refused(peak_mib, model, are_sets, monkeypatch):
    monkeypatch.setenv("TAXONOMIST_DENSE_GIB", str(LIMIT_MIB / 1024))
    # As for larger data: up to this size, PathSVC trains nodes against all other items too.
    monkeypatch.setattr(path_learning, "MOST_WORK", 0)
    inner = getattr(model, "model", model)
    is_held_out = are_sets or isinstance(model, CalibratedClassifier)
    counting = HELD_OUT_SIZES if is_held_out else COUNT_SIZES
    sizes = counting if inner.traits.takes_counts else SIZES
    try:
        small, large = (fitted_peak(peak_mib, model, size, are_sets) for size in sizes)
    except DataSizeError as error:
        refusal = str(error)
        small = large = 0
    else:
        refusal = ""
    if refusal:
        assert re.search(r"dense array of [\d,]+ \w+ x [\d,]+ \w+, .* Use PathSVC,", refusal)
        assert not isinstance(model, PathSVC)
    # Blocks of items x categories have a fixed size; a dense array of 8 bytes would grow by this.
    dense_growth_mib = 8 * (sizes[1] ** 2 - sizes[0] ** 2) / 2**20
    assert large - small < dense_growth_mib / 4


@ON_LINUX
def test_memory_of_a_text_classifier_grows_with_the_texts(peak_mib, monkeypatch):
    # As for larger data: up to these sizes, nodes are trained against all other items too.
    monkeypatch.setattr(negatives, "MOST_WEIGHTS", 0)

    def peak(size):
        taxonomy, X, y = problem(size)
        texts = [" ".join(f"w{word}" for word in row.indices) for row in X]
        model = TextClassifier(taxonomy, features="words", names="off", vectors="off")
        return peak_mib(lambda: model.fit(texts, y).predict(texts[:50]))

    peak(100)
    small, large = map(peak, SIZES)
    assert large - small < 8 * (SIZES[1] ** 2 - SIZES[0] ** 2) / 2**20 / 4


@ON_LINUX
@pytest.mark.slow
def test_path_svc_of_label_sets_grows_with_categories_and_not_with_items_times_categories(
    peak_mib, monkeypatch
):
    monkeypatch.setattr(path_learning, "MOST_WORK", 0)
    taxonomy, X, y = problem(SIZES[1])
    sets = [[label, f"c{place}"] for place, label in enumerate(y)]
    half = SIZES[0]
    # The second half has the same items again, so that only their number differs.
    peak_mib(lambda: PathSVC(taxonomy).fit(X[:100], sets[:100]))
    small = peak_mib(lambda: PathSVC(taxonomy).fit(X[:half], sets[:half]))
    large = peak_mib(lambda: PathSVC(taxonomy).fit(vstack([X[:half]] * 2), sets[:half] * 2))
    assert large - small < 8 * half * SIZES[1] / 2**20 / 4


def test_the_refusal_names_the_size_the_limit_and_what_to_use(monkeypatch):
    taxonomy, X, y = problem(3000)
    monkeypatch.setenv("TAXONOMIST_DENSE_GIB", "0.1")
    message = (
        r"^HierarchicalSVC would keep a dense array of 12,000 features x 3,061 nodes, 0\.1 GiB; "
        r"the limit is 0\.1 GiB\. Use PathSVC, whose arrays are sparse, or set the environment "
        r"variable TAXONOMIST_DENSE_GIB to a larger limit\.$"
    )
    with pytest.raises(DataSizeError, match=message):
        HierarchicalSVC(taxonomy).fit(X, y)
    # The flat twin has one column for each category; a kernel has one row for each item.
    with pytest.raises(DataSizeError, match="12,000 features x 3,000 categories"):
        HierarchicalSVC(taxonomy, attributes="flat").fit(X, y)
    monkeypatch.setenv("TAXONOMIST_DENSE_GIB", "0.01")
    with pytest.raises(DataSizeError, match="3,000 items x 3,061 nodes"):
        HierarchicalSVC(taxonomy, kernel="rbf").fit(X, y)


def test_path_svc_refuses_weights_of_all_features_and_many_nodes(monkeypatch):
    taxonomy, X, y = problem(3000)
    n_used = len(set(y))
    monkeypatch.setenv("TAXONOMIST_DENSE_GIB", "0.05")
    message = (
        rf"^PathSVC would keep weights of 12,000 features x {n_used:,} nodes that are trained on "
        r"all items, 0\.1 GiB; the limit is 0\.05 GiB\. Use a taxonomy with more levels and "
    )
    # Without a taxonomy all categories are siblings.
    with pytest.raises(DataSizeError, match=message):
        PathSVC(negatives="siblings").fit(X, y)
    with pytest.raises(DataSizeError, match="12,000 features x [12],"):
        PathSVC(taxonomy, negatives="all").fit(X, y)
    PathSVC(taxonomy, negatives="siblings").fit(X, y)


def test_the_limit_is_four_gib_or_as_set(monkeypatch):
    monkeypatch.delenv("TAXONOMIST_DENSE_GIB", raising=False)
    assert dense_limit_gib() == 4
    monkeypatch.setenv("TAXONOMIST_DENSE_GIB", "16.5")
    assert dense_limit_gib() == 16.5
    for wrong in ("much", "0", "-1", "nan"):
        monkeypatch.setenv("TAXONOMIST_DENSE_GIB", wrong)
        with pytest.raises(ParameterError, match=f"TAXONOMIST_DENSE_GIB must be .* Got '{wrong}'"):
            dense_limit_gib()
