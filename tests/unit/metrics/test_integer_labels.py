"""Every measure takes integers as it takes the ids that are written like them."""

from __future__ import annotations

from inspect import isfunction, signature

import numpy as np
import pytest

from taxonomist import Taxonomy, metrics

TAXONOMY = Taxonomy.from_edges([("1", "11"), ("1", "12"), ("2", "21"), ("2", "22")])
CODES = [11, 12, 21, 22]
SCORES = np.random.default_rng(0).random((8, 4))
TRUE = [11, 12, 21, 22, 11, 12, 21, 22]
PREDICTED = [11, 11, 22, 22, 21, 12, 21, 12]
FUNCTIONS = {
    name: getattr(metrics, name)
    for name in metrics.__all__
    if isfunction(getattr(metrics, name))
    if next(iter(signature(getattr(metrics, name)).parameters)) == "y_true"
}


def forms(y):
    """Return labels as integers, as an array of them, and as strings."""
    return [y, np.array(y), [str(label) for label in y], np.array([str(label) for label in y])]


def value(measure, y_true, second, classes):
    known = signature(measure).parameters
    options = {"classes": classes} if classes is not None and "classes" in known else {}
    given = [TAXONOMY] if "taxonomy" in known else []
    return str(measure(y_true, second, *given, **options))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_label_each(name):
    measure = FUNCTIONS[name]
    known = signature(measure).parameters
    if "y_pred" in known:
        found = {
            value(measure, y_true, y_pred, None)
            for y_true in forms(TRUE)
            for y_pred in forms(PREDICTED)
        }
    elif name == "reliability":
        chances = metrics.node_scores(SCORES, TAXONOMY, [str(code) for code in CODES])
        found = {value(measure, y_true, chances, None) for y_true in forms(TRUE)}
    else:
        found = {
            value(measure, y_true, SCORES, classes)
            for y_true in forms(TRUE)
            for classes in forms(CODES)
        }
    assert len(found) == 1


@pytest.mark.parametrize(
    "name", [name for name in FUNCTIONS if "classes" in signature(FUNCTIONS[name]).parameters]
)
def test_label_sets(name):
    measure = FUNCTIONS[name]
    if name in ("mean_reciprocal_rank", "reliability"):  # one label per item, as above
        return
    truth = [[11, 21], [12], [21], [22], [11], [12, 22], [21], [22]]
    texts = [[str(label) for label in labels] for labels in truth]
    if "y_pred" in signature(measure).parameters:
        sets = [[label] for label in PREDICTED]
        others = [sets, [[str(label)] for (label,) in sets]]
        found = {value(measure, y, other, None) for y in (truth, texts) for other in others}
    else:
        found = {
            value(measure, y, SCORES, classes) for y in (truth, texts) for classes in forms(CODES)
        }
    assert len(found) == 1
