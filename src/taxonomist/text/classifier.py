"""``TextClassifier``: classify raw texts into a taxonomy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from taxonomist.compiled.compiling import working_clock
from taxonomist.errors import LabelError
from taxonomist.features.counted_texts import CountedTexts
from taxonomist.taxonomy import Taxonomy
from taxonomist.taxonomy import labels as label_formats
from taxonomist.text.answers import TextAnswers
from taxonomist.text.budget import BUDGET
from taxonomist.text.choosing import choose_model
from taxonomist.text.digests import digests
from taxonomist.text.feature_sets import chosen_features
from taxonomist.text.files import TextFiles
from taxonomist.text.joined_columns import join
from taxonomist.text.measure import MEASURE
from taxonomist.text.models import DEFAULT_MODEL, make_model
from taxonomist.text.name_documents import flat_names
from taxonomist.text.parameters import calibration_method, check_parameters, several
from taxonomist.text.prior_answers import label_shares
from taxonomist.text.vector_columns import wanted_vectors, whole_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike
    from sklearn.utils import Tags

    from taxonomist._typing import CSR, Bools, Options, TextLike
    from taxonomist.features import SentenceVectors, TextFeatures
    from taxonomist.text.measure import MeasureLike
    from taxonomist.text.search import SearchStep, Trial


class TextClassifier(TextFiles, ClassifierMixin, BaseEstimator):
    """Text features, a model, probabilities and decisions in one estimator.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels. If None, the training labels form a single level.
    model
        A name from ``taxonomist.text.MODELS``, such as ``"path"`` for ``PathSVC``; ``"auto"``,
        which cross-validates a few of them and uses the best; or an unfitted classifier of this
        library, which receives tf-idf vectors.
    C
        Regularisation parameter. None means the best value found by ``model="auto"``; for
        ``model="path"`` with ``features="auto"``, the value of .3, 1 and 3 with the best measure
        on held-out documents; and otherwise 1.
    words, characters, min_df, max_features, weights
        Features of the texts, as in ``taxonomist.features.TextFeatures``. With ``"auto"`` for words
        and characters, ``features`` decides; if one of them is given, nothing is chosen.
    vectors
        Sentence vectors beside the words: ``"auto"`` uses the built-in encoder if the extra
        ``vectors`` is installed and ``budget`` allows to encode all texts, ``"on"`` always, and
        ``"off"`` never. Or another encoder: a ``taxonomist.features.SentenceVectors``, a folder or
        a function, as there. The weight of the vectors is chosen on held-out items, and may be 0.
    calibration
        How to fit probabilities to held-out scores: ``"temperature"``, ``"platt"`` or
        ``"isotonic"``. ``"auto"`` uses the probabilities of the model if it fits its own, as
        ``PathSVC`` does, and otherwise ``"temperature"`` for one category per item and
        ``"isotonic"`` for label sets. None gives no probabilities, which is faster with models
        that do not fit their own.
    cv
        Number of cross-validation folds for the search and for the probabilities. Fewer than 667
        documents that names are learned beside have more folds, up to 10.
    random_state
        Random seed.
    n_jobs
        Number of threads; None means all cores.
    budget
        Seconds for the search of ``model="auto"``, and for the vectors of ``vectors="auto"``; None
        means no limit. The training of the chosen model
        comes after the search and does not count, nor does compilation. With a budget, candidates
        that would take too long are left out, so the chosen model may depend on the speed of the
        machine; with None, the same seed always gives the same model.
    measure
        What features, names, C and models are compared by, and label sets are decided for:
        ``"hierarchical_f1"``, ``"accuracy"`` (of whole label sets), ``"taxonomy_loss"``,
        ``"micro_f1"`` or ``"macro_f1"`` (over categories); or a scorer that is called with a
        fitted model, items and labels, for the models of the search only; features, names and C go
        by hierarchical F1 then. With ``"taxonomy_loss"`` and one category
        per item, predictions are the nodes with the smallest expected loss, which may be inner
        nodes. ``cost="tree"`` in ``predict`` does not lower the measure.
    features
        A set of features: ``"words"``, ``"words 1-2"`` (also pairs of words),
        ``"words + characters"`` (also the 3 to 5 characters in sequence within words) or
        ``"words 1-2 + characters"``. ``"auto"`` chooses the set with the best measure on held-out
        documents, and whether the shortest of several text columns counts more.
    names
        Whether the names of categories, and their texts in the taxonomy, are training documents
        too, so that categories without documents can be predicted: ``"auto"`` unless held-out
        documents are better without them, ``"on"``, ``"off"``, or the weight of a name beside a
        document. Otherwise the weight is chosen on held-out documents. It fades as documents come:
        a category with thirty of them has half the weight.

    Attributes
    ----------
    classes_
        Ids of the categories.
    taxonomy_
        The taxonomy.
    is_multilabel_
        Whether items have label sets; inferred from the training labels.
    features_, feature_set_
        The fitted ``TextFeatures``, and the name of the set; empty if words or characters are
        given.
    name_weight_, named_only_
        The weight of names, and the categories that have a name but no documents.
    vectors_, vector_weight_
        The fitted ``SentenceVectors``, and their weight beside words; None and 0 if they are not
        used.
    model_
        The fitted model.
    prior_
        With one category per item, the share of each category among the training items: the
        probabilities of a text without known words.
    search_
        The trials of ``"auto"``, best first: model, C, score, seconds, and a note if the candidate
        was left out.
    training_
        Facts about the training: items, features, seconds (without compiling), model, trials, and
        facts added by ``record``.
    cost_
        The chosen or given value of C; None for 1.
    takes_counts_
        Whether the model takes word counts instead of tf-idf.
    seen_
        Hashes of the training texts, used by ``has_seen``.

    Examples
    --------
    >>> from taxonomist import Taxonomy, TextClassifier
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> texts = ["purrs and sleeps", "barks and runs", "has leaves and acorns"] * 4
    >>> model = TextClassifier(taxonomy).fit(texts, ["cat", "dog", "oak"] * 4)
    >>> model.predict_paths(["it barks and barks"])
    [('animal', 'dog')]
    """

    file_version = 2
    features_: TextFeatures

    def __init__(
        self,
        taxonomy: Taxonomy | None = None,
        *,
        model: Any = DEFAULT_MODEL,
        C: float | None = None,
        words: tuple[int, int] | str | None = "auto",
        characters: tuple[int, int] | str | None = "auto",
        min_df: int | str = "auto",
        max_features: int | None = None,
        weights: Any = None,
        calibration: str | None = "auto",
        cv: int = 3,
        random_state: int = 0,
        n_jobs: int | None = None,
        budget: float | None = BUDGET,
        vectors: Any = "auto",
        measure: MeasureLike = MEASURE,
        features: str = "auto",
        names: str | float = "auto",
    ) -> None:
        self.taxonomy = taxonomy
        self.model = model
        self.C = C
        self.words = words
        self.characters = characters
        self.min_df = min_df
        self.max_features = max_features
        self.weights = weights
        self.calibration = calibration
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.budget = budget
        self.vectors = vectors
        self.measure = measure
        self.features = features
        self.names = names

    # Learning --------------------------------------------------------------------------------

    def fit(
        self,
        texts: Iterable[TextLike],
        labels: Iterable[object],
        sample_weight: ArrayLike | None = None,
        callback: Callable[[SearchStep], object] | None = None,
    ) -> Self:
        """Fit the features, the model and the probabilities.

        Parameters
        ----------
        texts
            The text of each item: a string, a sequence of strings, or a mapping from column names
            to strings. The texts are read once and not kept. Or a data frame with columns of texts,
            or ``CountedTexts``.
        labels
            A node id for each item, or an iterable of node ids.
        sample_weight
            Weights of the items.
        callback
            Called before each step of ``"auto"`` with a ``SearchStep``: what comes next, how long
            that will take, and how much time is left for the search. ``KeyboardInterrupt`` during
            the search ends it, and the best model so far is trained; if there is none, or during
            training, the exception is passed on.

        Returns
        -------
        TextClassifier
            The classifier itself.
        """
        return self._fit(texts, labels, sample_weight, callback)

    def _fit(
        self,
        texts: Iterable[TextLike],
        labels: Iterable[object],
        sample_weight: ArrayLike | None,
        callback: Callable[[SearchStep], object] | None = None,
        vector_weight: float | None = None,
    ) -> Self:
        """Fit the classifier, with a weight of the vectors if it is known."""
        from taxonomist.text.fitting import add_vectors, fit_model, fit_texts

        start = working_clock()
        check_parameters(self)
        y = label_formats.simplified(labels)
        if not y:
            if n_texts := sum(1 for _ in several(texts)):
                raise LabelError(f"Got {n_texts} texts without labels: no items to learn from.")
            return self._fit_names(start)
        self.is_multilabel_ = label_formats.is_label_sets(y)
        wanted = wanted_vectors(self.vectors, self.model, self.n_jobs)
        if wanted is not None and not isinstance(texts := several(texts), Sequence):
            texts = list(texts)
        given = fit_texts(self, texts, y, callback)
        counts = given.counts
        if counts.shape[0] != len(y):
            raise LabelError(
                f"Got {counts.shape[0]} texts but labels for {len(y)} items; every text needs "
                "labels."
            )
        X = self.features_.weigh(counts)
        self.vectors_: SentenceVectors | None = None
        self.vector_weight_ = 0.0
        self.search_: list[Trial] = []
        self.cost_ = self.C
        facts: dict[str, object] = {}
        if wanted is not None:
            chosen = add_vectors(self, wanted, X, texts, given, callback, vector_weight)
            X, given, facts = chosen
        model, self.takes_counts_ = choose_model(self, X, counts, y, callback)
        method = calibration_method(self.calibration, model, self.is_multilabel_)
        if method is not None:
            from taxonomist.models.calibrated import CalibratedClassifier

            model = CalibratedClassifier(model, method=method, cv=self.cv)
        rows = counts if self.takes_counts_ else X
        facts |= fit_model(self, model, rows, given, sample_weight, callback)
        self.classes_ = self.model_.classes_
        if not self.is_multilabel_:
            self.prior_ = label_shares(self.model_.targets_, y, sample_weight)
        self.taxonomy_ = (
            Taxonomy.flat(self.classes_.tolist()) if self.taxonomy is None else self.taxonomy
        )
        self.training_ = self._facts(len(y), start) | facts
        self.training_["features"] = {**given.facts, "terms": len(self.features_.idf_)}
        return self

    def _fit_names(self, start: float) -> Self:
        """Fit the classifier to the names of the taxonomy's leaves."""
        from taxonomist.text.fitting import prepare_names
        from taxonomist.text.names import NameSimilarity

        texts, labels = prepare_names(self)
        self.model_ = NameSimilarity(self.taxonomy).fit(self._vectors(texts), labels)
        self.classes_, self.taxonomy_ = self.model_.classes_, self.model_.taxonomy_
        self.training_ = self._facts(0, start)
        return self

    def _facts(self, n_items: int, start: float) -> dict[str, object]:
        """Return facts about the training."""
        from taxonomist.text.search_problem import MOST_ITEMS

        return {
            "items": n_items,
            "features": {"terms": len(self.features_.idf_)},
            "model": " ".join(repr(getattr(self.model_, "model", self.model_)).split()),
            "seconds": working_clock() - start,
            "search": _as_data(self.search_),
            "search_items": min(n_items, MOST_ITEMS) if self.search_ else 0,
        }

    @property
    def used_vectors(self) -> SentenceVectors | None:
        """The fitted sentence vectors; None if the classifier uses words alone."""
        # Classifiers of old files lack the attribute.
        return None if self.takes_counts_ else getattr(self, "vectors_", None)

    def made(self, **more: object) -> Any:
        """Return the chosen model, unfitted, with more parameters where it has them."""
        name, C = self.chosen
        options = {**self.model_options, "C": 1.0 if C is None else C, **more}
        return make_model(name, self.taxonomy, is_multilabel=self.is_multilabel_, **options)

    @property
    def model_options(self) -> Options:
        """The parameters that are passed on to models."""
        passed = {name: getattr(self, name) for name in ("measure", "random_state", "n_jobs", "cv")}
        return {**passed, "C": 1.0 if self.C is None else self.C}

    @property
    def decides_by_loss(self) -> bool:
        """Whether ``predict`` returns the nodes with the smallest expected taxonomy loss."""
        is_single = not self.is_multilabel_ and self.calibration is not None
        return is_single and getattr(self, "measure", MEASURE) == "taxonomy_loss"

    @property
    def chosen(self) -> tuple[Any, float | None]:
        """The model and C, as given or as found by ``"auto"``."""
        if not self.search_:
            return self.model, getattr(self, "cost_", self.C)
        best = self.search_[0]
        return best.model, best.C if self.C is None else self.C

    def refit(
        self,
        texts: Iterable[TextLike],
        labels: Iterable[object],
        sample_weight: ArrayLike | None = None,
    ) -> TextClassifier:
        """Return a new classifier with the same model and C, fitted to other items.

        There is no new search: ``search_`` is copied from this classifier. The parameters are as
        in ``fit``.
        """
        check_is_fitted(self, "model_")
        again = self.unfitted()
        again._fit(texts, labels, sample_weight, vector_weight=getattr(self, "vector_weight_", 0.0))
        again.search_ = self.search_
        return again.record(search=_as_data(self.search_))

    def flat_twin(self) -> TextClassifier:
        """Return an unfitted classifier with the same model and C, but without the taxonomy."""
        from taxonomist.evaluation.flat import flat_twin

        check_is_fitted(self, "model_")
        twin, model = self.unfitted(), self.chosen[0]
        if isinstance(model, str):
            model = self.made()
        if isinstance(twin.model, str) and "attributes" not in model.get_params(deep=False):
            twin.taxonomy = flat_names(self)
        else:
            twin.model = flat_twin(model)
        return twin

    def unfitted(self) -> TextClassifier:
        """Return an unfitted classifier with the chosen model and C."""
        model, C = self.chosen
        vectors = "off" if self.used_vectors is None else self.vectors
        chosen = {"model": model, "C": C, "vectors": vectors, **chosen_features(self)}
        return TextClassifier(**{**self.get_params(deep=False), **chosen})

    def record(self, **facts: object) -> Self:
        """Add facts to ``training_``, such as held-out measures; ``save`` stores them."""
        check_is_fitted(self, "model_")
        self.training_ = {**self.training_, **facts}
        return self

    def has_seen(self, texts: Iterable[TextLike]) -> Bools:
        """Return whether the classifier was fitted to each text, (n_items,)."""
        check_is_fitted(self, "model_")
        found: Bools = np.isin(digests(several(texts)), getattr(self, "seen_", ()))
        return found

    # Answering -------------------------------------------------------------------------------

    def answer(self, texts: Iterable[TextLike]) -> TextAnswers:
        """Vectorise texts once, for any number of predictions about them.

        Parameters
        ----------
        texts
            As in ``fit``.

        Returns
        -------
        TextAnswers
            Has methods for labels, paths, probabilities and explanations.
        """
        check_is_fitted(self, "model_")
        kept = texts if isinstance(texts, CountedTexts) else list(several(texts))
        return TextAnswers(self, kept, self._vectors(kept))

    def __sklearn_tags__(self) -> Tags:
        """Return the scikit-learn tags: a classifier of texts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.classifier_tags.multi_label = True
        return tags

    def _vectors(self, texts: Iterable[TextLike]) -> CSR:
        """Return word counts or tf-idf, as the model needs."""
        counts = self.features_.counts(texts)
        if self.takes_counts_:
            return counts
        words, vectors = self.features_.weigh(counts), self.used_vectors
        if vectors is None:
            return words
        return join(
            words, vectors.transform(whole_texts(self.features_, texts)), self.vector_weight_
        )


def _as_data(trials: list[Trial]) -> list[dict[str, object]]:
    return [dict(trial._asdict()) for trial in trials]
