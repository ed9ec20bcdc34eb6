"""``DaskTextClassifier``: ``TextClassifier`` on a Dask cluster."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from taxonomist.distributed.classifier import DaskClassifier
from taxonomist.distributed.engine import reduce
from taxonomist.distributed.joint_fit import fit_joint
from taxonomist.distributed.path_fit import fit_paths
from taxonomist.distributed.text_parts import (
    TextFacts,
    add_frequencies,
    simplified_labels,
    term_frequencies,
    text_facts,
    vectors_of,
)
from taxonomist.errors import LabelError, ParameterError
from taxonomist.features import TextFeatures
from taxonomist.inference.path_scorer import PathScorer
from taxonomist.models.hierarchical_svc import HierarchicalSVC
from taxonomist.models.path_svc import PathSVC
from taxonomist.taxonomy import Taxonomy
from taxonomist.text import TextClassifier
from taxonomist.text.feature_sets import feature_options
from taxonomist.text.models import make_model
from taxonomist.text.parameters import calibration_method, check_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from dask.array import Array

    from taxonomist.distributed.blocks import Block, Collection
    from taxonomist.distributed.engine import Engine, Handle
    from taxonomist.models.base import TaxonomyClassifier


class DaskTextClassifier(DaskClassifier):
    """``TextClassifier`` for texts that are spread over a Dask cluster.

    Document frequencies are summed in a tree, so that the terms and their weights are those of all
    texts in one place. Texts become vectors where they are.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels. None uses a flat taxonomy of the labels.
    client
        The Dask client. None uses the default client when it is needed. It is never pickled.
    **parameters
        The other parameters of ``TextClassifier``. The model must be ``"path"``, ``"svm"`` or
        ``"flat"``, or an instance of ``PathSVC`` or ``HierarchicalSVC``; the latter needs
        ``calibration=None``. There is no choice of features or of C, ``"auto"`` means words, names
        of categories are not used, and ``PathSVC`` has ``complement=False``.

    Attributes
    ----------
    local_
        The fitted ``TextClassifier``. Its attributes, such as ``classes_`` and ``features_``, are
        attributes of this model too.
    """

    local_class = TextClassifier
    takes_texts = True

    def fit(self, X: Collection, y: Collection, sample_weight: Collection | None = None) -> Self:
        """Learn from texts and their labels.

        Parameters
        ----------
        X
            Texts: a Dask bag, series or array, a data frame whose columns are texts, or a list of
            delayed parts.
        y
            Labels in the same partitions: a node id, or an iterable of node ids, for each item. Or
            the name of the column of X that has them.
        sample_weight
            Weights of the items, in the same partitions.

        Returns
        -------
        DaskTextClassifier
            The model itself.
        """
        if isinstance(y, str):
            if y not in getattr(X, "columns", ()):
                raise ParameterError(f"y is {y!r}, but X is no data frame with such a column.")
            texts = X.drop(columns=[y])
            X, y = texts[texts.columns[0]] if len(texts.columns) == 1 else texts, X[y]
        return super().fit(X, y, sample_weight)

    def predict(self, X: Collection) -> Array:
        """Return the labels of texts, lazily: an array of ids, or a bag of lists of ids."""
        answers = self._ask(X, "predict")
        return answers.bag() if self.local_.is_multilabel_ else answers.array(self._dtype())

    def _dtype(self) -> object:
        """Return the dtype of labels."""
        return self.local_.classes_.dtype

    def _fit_local(
        self, engine: Engine, blocks: Sequence[Sequence[Handle]], local: Block
    ) -> TextClassifier:
        """Fit the local twin to blocks of texts, labels and weights, and return it."""
        started = perf_counter()
        check_parameters(local)
        texts, labels, weights = blocks
        known = engine.map(text_facts, range(len(texts)), texts, labels)
        facts: TextFacts = engine.gather([reduce(engine, TextFacts.joined, known)])[0]
        if not facts.n_items:
            raise LabelError("There are no items to learn from.")
        local.is_multilabel_ = not facts.is_single
        model = _model_of(local)
        local.features_, local.seen_ = _features(engine, local, texts, facts), facts.seen
        vectors = engine.map(vectors_of, texts, shared=(engine.scatter(local.features_),))
        y = engine.map(simplified_labels, labels, shared=(facts.is_single,))
        given = [vectors, y, weights]
        local.search_, local.takes_counts_ = [], False
        local.model_ = FITS[type(model)](engine, given, model)
        local.classes_ = local.model_.classes_
        if isinstance(scorer := local.model_.scorer_, PathScorer):
            local.prior_ = scorer.counts / scorer.counts.sum()
        local.taxonomy_ = local.taxonomy or Taxonomy.flat(local.classes_.tolist())
        local.training_ = {
            "items": facts.n_items,
            "features": {"terms": len(local.features_.idf_)},
            "model": " ".join(repr(local.model_).split()),
            "seconds": perf_counter() - started,
            "search": [],
        }
        fitted: TextClassifier = local
        return fitted


def _fit_rounds(
    engine: Engine, blocks: Sequence[Sequence[Handle]], model: HierarchicalSVC
) -> HierarchicalSVC:
    """Return the fitted model without the record of its rounds."""
    return fit_joint(engine, blocks, model)[0]


FITS: dict[type[TaxonomyClassifier], Callable[..., TaxonomyClassifier]] = {
    PathSVC: fit_paths,
    HierarchicalSVC: _fit_rounds,
}
"""How models of vectors are fitted on a cluster."""


def _model_of(local: Block) -> TaxonomyClassifier:
    """Return the unfitted model; raise if it cannot be trained on a cluster."""
    model = local.model
    if isinstance(model, str) and model != "auto":
        model = make_model(
            model,
            local.taxonomy,
            is_multilabel=local.is_multilabel_,
            C=1.0 if local.C is None else local.C,
            random_state=local.random_state,
            n_jobs=local.n_jobs,
            cv=local.cv,
            measure=local.measure,
            complement=False,
        )
    if type(model) not in FITS:
        raise ParameterError(
            "On a cluster, model must be 'path', or for one label per item 'svm' or 'flat', or an "
            f"instance of PathSVC or HierarchicalSVC. Got {local.model!r}."
        )
    unfitted: TaxonomyClassifier = model
    if calibration_method(local.calibration, model, local.is_multilabel_) is not None:
        raise ParameterError(
            f"On a cluster, {type(model).__name__} needs calibration=None; PathSVC fits "
            "probabilities of its own."
        )
    return unfitted


def _features(
    engine: Engine, local: Block, texts: Sequence[Handle], facts: TextFacts
) -> TextFeatures:
    """Return the features of all texts, fitted to sums of document frequencies."""
    features = TextFeatures(**feature_options(local))
    counted = engine.map(term_frequencies, texts, shared=(features, facts.first[0]))
    (frequencies,) = engine.gather([reduce(engine, add_frequencies, counted)])
    return features.fit_frequencies(frequencies, facts.n_items, facts.first[0])
