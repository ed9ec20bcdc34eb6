"""A classifier from the names of categories alone, without a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.special import softmax
from sklearn.utils.validation import validate_data

from taxonomist.features.spectrum import unit_rows
from taxonomist.inference.linear_scorer import LinearScorer
from taxonomist.inference.row_maps import FeatureMap
from taxonomist.models.base import TaxonomyClassifier
from taxonomist.models.learning import Learned
from taxonomist.models.path_answers import PathAnswers
from taxonomist.models.probable_questions import ProbableQuestions
from taxonomist.models.traits import Traits
from taxonomist.text.name_documents import readable

if TYPE_CHECKING:
    from taxonomist._typing import CSR, Floats, MatrixLike, Objects
    from taxonomist.features import SentenceVectors
    from taxonomist.inference.scorers import Scored
    from taxonomist.models.learning import Training
    from taxonomist.taxonomy import Taxonomy

__all__ = ["NAME_WEIGHT", "NameSimilarity", "fit_uncentred", "name_documents"]

NAME_WEIGHT = 3.0
"""Weight of the vectors beside words: the best of .7, 1, 1.4, 2, 3 and 10 on the 15 newsgroups,
trec-question, naics2012 and arxiv-sample, 600 documents each."""
SCALE = 20.0
"""What similarities are multiplied by before the softmax. all-MiniLM-L6-v2 was trained with it."""


def name_documents(taxonomy: Taxonomy) -> tuple[list[str], list[str]]:
    """Return texts and labels for each leaf: its name, and the names along its path.

    Of the name, the path, the mean over the path's names, and name and path together, the last was
    within a point of the best on 600 documents each of the 15 newsgroups, trec-question, naics2012
    and arxiv-sample. Dots and underscores in names count as blanks.
    """
    texts, labels = [], []
    for leaf in taxonomy.leaves:
        (path,) = taxonomy.paths(leaf, limit=1)
        names = list(dict.fromkeys(readable(taxonomy.name(node)) for node in path))
        texts += [names[-1], " ".join(names)]
        labels += [leaf] * 2
    return texts, labels


def fit_uncentred(vectors: SentenceVectors, texts: list[str]) -> SentenceVectors:
    """Fit sentence vectors without a centre: names and texts are too different for a common one."""
    vectors.fit(texts)
    vectors.centre_ = np.zeros_like(vectors.centre_)
    return vectors


class NameSimilarity(ProbableQuestions, TaxonomyClassifier):
    """The category whose name is most similar to an item.

    The score of a category is the cosine of the item and the mean of the category's rows.
    Probabilities are a softmax of the scores; there are no items to calibrate them
    with.

    Parameters
    ----------
    taxonomy
        The taxonomy of the labels.
    """

    traits = Traits(label_sets=False, fits_probabilities=True)

    def __init__(self, taxonomy: Taxonomy | None = None) -> None:
        self.taxonomy = taxonomy

    def check_rows(self, X: MatrixLike, reset: bool) -> CSR:
        """Return validated rows, sparse and of length 1."""
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)
        return csr_array(unit_rows(csr_array(rows)))

    def learn(self, training: Training, start: object = None) -> Learned:  # noqa: ARG002
        """Average the rows of every category; see ``TaxonomyClassifier.learn``."""
        shares = csr_array(training.targets.labels.T, dtype=np.float64)
        means: Floats = (shares @ training.X).toarray()
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        W = np.ascontiguousarray((means / np.where(lengths > 0, lengths, 1.0)).T)
        identity = csr_array(eye_array(W.shape[1], format="csr"))
        return Learned(LinearScorer(W, identity, FeatureMap()), {})

    def answer(self, X: MatrixLike) -> PathAnswers:
        """Return all predictions for items, which are scored only once."""
        return PathAnswers(self, self.scored(X))

    def plain_predictions(self, X: MatrixLike) -> Objects:
        """Return the best categories."""
        found: Objects = TaxonomyClassifier.predict(self, X)
        return found

    def probabilities(self, scored: Scored) -> Floats:
        """Return the probabilities of categories, (n_items, n_categories)."""
        found: Floats = softmax(SCALE * scored.categories, axis=1)
        return found

    def source_title(self, source: int) -> tuple[str, str]:
        """Return the id and the name of a category."""
        node = self.taxonomy_.nodes[int(self.targets_.nodes[source])]
        return node, self.taxonomy_.name(node)
