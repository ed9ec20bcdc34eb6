"""Predictions and scores of a fitted model for test items, in the form that the measures take.

Models answer in the columns of their own ``classes_``, and a flat model knows only the categories
of its training items. This module converts columns to ids, and ranks categories that a model does
not know behind all that it knows.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.errors import LabelError
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Classifier, Floats, ItemsLike, LabelsLike
    from taxonomist.taxonomy import Taxonomy


def taxonomy_of(model: Any) -> Taxonomy | None:
    """Return the taxonomy of a fitted model, which may be inside a pipeline or a search."""
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "steps"):
        return taxonomy_of(model.steps[-1][1])
    return getattr(model, "taxonomy_", None)


def truth_of(model: Classifier, y: LabelsLike, taxonomy: Taxonomy | None) -> Any:
    """Convert an indicator over nodes or the model's classes to ids; return others as is."""
    return _label_lists(y, taxonomy.nodes if taxonomy else None, _ids(model))


def predictions(model: Classifier, X: ItemsLike, taxonomy: Taxonomy | None) -> Any:
    """Return one label per item, or label sets as lists of ids if the columns have ids.

    The columns of ``predict`` are categories. If the model has ``predict_labels``, that is used for
    label sets, because it can return interior nodes that are not categories.
    """
    found = model.predict(X)
    ids = _ids(model)
    if labels.is_indicator(found) and ids is not None:
        last, vectors = _last_step(model, X)
        if hasattr(last, "predict_labels"):
            return last.predict_labels(vectors)
    return _label_lists(found, ids, taxonomy.nodes if taxonomy else None)


def scored_truth(
    model: Any, X: ItemsLike, y: Any, taxonomy: Taxonomy | None
) -> tuple[LabelsLike, Floats, Sequence[object]]:
    """Return truth, scores and classes, with a column for each label of the truth."""
    scores = _scores(model, X)
    if labels.is_indicator(y) and _ids(model) is None:
        # A scikit-learn model fitted on an indicator matrix numbers its columns.
        named = taxonomy is not None and taxonomy.n_nodes == scores.shape[1]
        return y, scores, taxonomy.nodes if taxonomy and named else range(scores.shape[1])
    y = truth_of(model, y, taxonomy)
    is_sets = labels.is_label_sets(y)
    if is_sets and taxonomy is not None:
        # An ancestor given together with a descendant is not a category.
        Y = labels.most_specific(taxonomy, labels.encode_sets(taxonomy, y))
        y = labels.decode_sets(taxonomy, Y)
    # Integers and strings may denote the same label.
    known = {str(label): label for label in model.classes_}
    wanted = dict.fromkeys(label for row in y for label in row) if is_sets else dict.fromkeys(y)
    unknown = [label for label in wanted if str(label) not in known]
    last = np.full((scores.shape[0], len(unknown)), -np.inf)
    return y, np.hstack([scores, last]), [*known.values(), *unknown]


def _ids(model: Classifier) -> Sequence[str] | None:
    """Return the ids of the model's columns, or None if they are only numbered."""
    classes = np.asarray(getattr(model, "classes_", ()))
    has_ids = len(classes) > 0 and (classes.dtype.kind in "OUT" or _named(model))
    return classes.tolist() if has_ids else None


def _named(model: Any) -> bool:
    """Return whether integers among the classes are labels, not numbers of columns."""
    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "steps"):
        return _named(model[-1])
    targets = getattr(model, "targets_", None)
    return targets is not None and not (targets.is_flat and targets.columns is not None)


def _last_step(model: Any, X: ItemsLike) -> tuple[Any, Any]:
    """Return the final model of a pipeline or search, and its input."""
    model = getattr(model, "best_estimator_", model)
    if not hasattr(model, "steps"):
        return model, X
    return _last_step(model[-1], model[:-1].transform(X) if len(model) > 1 else X)


def _label_lists(y: Any, *columns: Sequence[str] | None) -> Any:
    """Convert an indicator to lists of ids, using the first column names that fit."""
    from scipy.sparse import csr_array

    if not labels.is_indicator(y):
        return y
    names = next((ids for ids in columns if ids is not None and len(ids) == y.shape[1]), None)
    if names is None:
        return y
    Y = csr_array(y if hasattr(y, "tocsr") else np.asarray(y, dtype=bool), copy=True)
    Y.eliminate_zeros()
    found = [names[column] for column in Y.indices.tolist()]
    return [found[start:end] for start, end in pairwise(Y.indptr.tolist())]


def _scores(model: Classifier, X: ItemsLike) -> Floats:
    """Return a score per item and class from whichever method the model has."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            scores = np.asarray(getattr(model, method)(X), dtype=np.float64)
            # A binary decision function is one number per item, in favour of the second class.
            return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    message = (
        f"{type(model).__name__} has neither decision_function nor predict_proba, which "
        "measures of rankings need; choose measures of predictions."
    )
    raise LabelError(message)
