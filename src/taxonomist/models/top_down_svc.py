"""``TopDownSVC``: one classifier per node, trained on the items of its parents [RSSS06]."""

from __future__ import annotations

from taxonomist.models.dense_arrays import DenseArray
from taxonomist.models.node_svc import ClassifierScorer, NodeSVC
from taxonomist.models.traits import Traits


class TopDownSVC(NodeSVC):
    """One binary classifier per node, trained on the items of its parents: H-SVM.

    The classifier of a node only sees items that belong to all its parents, so it is trained on
    these items only [RSSS06, Sec. 5]. This is faster than ``NodeSVC`` and separates siblings
    better, but the classifiers have never seen items that were wrongly accepted above them.

    Parameters
    ----------
    taxonomy, C, loss, bias, estimator, min_labels, random_state, n_jobs
        As in ``NodeSVC``.

    Attributes
    ----------
    classes_, taxonomy_, node_estimators_, node_constants_
        As in ``NodeSVC``.

    Examples
    --------
    >>> from taxonomist.models.top_down_svc import TopDownSVC
    >>> from taxonomist import Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
    >>> X = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]
    >>> y = [["cat"], ["cat", "dog"], ["dog"], ["oak"]]
    >>> model = TopDownSVC(taxonomy, C=10).fit(X, y)
    >>> model.predict_labels([[1, 1, 0], [0, 0, 1]])
    [['animal', 'cat', 'dog'], ['plant', 'oak']]
    >>> model.node_constants_
    {'oak': True}
    """

    traits = Traits(
        single={"top_down": {}},
        sets={"top_down": {"min_labels": 1}},
        parts=(ClassifierScorer,),
        dense=(DenseArray("features", "nodes", 8),),
    )

    @property
    def is_top_down(self) -> bool:
        """Whether a node is trained only on items that belong to all its parents."""
        return True
