"""Fitted models of every kind, and a comparison of all that they hold."""

from functools import cached_property

import numpy as np
from scipy import sparse

from taxonomist import Taxonomy, models

TREE = Taxonomy.from_paths(["a > a1", "a > a2", "b > b1", "b > b2 > b21", "c"])
DAG = Taxonomy.from_edges([("a", "x"), ("a", "y"), ("b", "y"), ("b", "z")], names={"x": "Ξ"})
# What wraps another model has a test of its own.
NAMES = sorted(set(models.all_models()) - {"CalibratedClassifier"})
SET_NAMES = [name for name in NAMES if name != "HierarchicalSVC"]
LINEAR = [
    "CoupledBinarySVC",
    "HierarchicalPerceptron",
    "HierarchicalRLS",
    "HierarchicalRankingSVC",
    "HierarchicalSVC",
    "MaxMarginMarkovClassifier",
    "NodeSVC",
    "TopDownSVC",
]


def problem(leaves=TREE.leaves, n=30, d=8, seed=0):
    """Return counts that tell the labels roughly, one label each, and label sets."""
    rng = np.random.default_rng(seed)
    y = rng.choice(np.array(leaves, dtype=object), size=n)
    centres = {leaf: rng.gamma(0.5, 4.0, size=d) for leaf in leaves}
    X = rng.poisson(np.array([centres[label] for label in y])).astype(float)
    sets = [sorted({y[k], y[-1 - k]}) if k % 3 == 0 else [y[k]] for k in range(n)]
    return X, y, sets


def model_of(name, taxonomy=TREE, **parameters):
    """Return an unfitted model; those that draw random numbers have a seed, perceptrons a ridge."""
    kind = getattr(models, name)
    if "random_state" in kind().get_params():
        parameters.setdefault("random_state", 0)
    if name == "HierarchicalPerceptron":
        parameters = {"ridge": 10.0, "max_iter": 2000, **parameters}
    return kind(taxonomy, **parameters)


def same(a, b, without=()):
    """Return where two values differ in type, contents or attributes; '' if nowhere."""
    if type(a) is not type(b):
        return f": {type(a).__name__} and {type(b).__name__}"
    if isinstance(a, np.ndarray):
        is_same = a.dtype == b.dtype and a.shape == b.shape
        is_same = is_same and a.flags.writeable == b.flags.writeable
        return "" if is_same and all_same(a.ravel().tolist(), b.ravel().tolist()) else f": {a} {b}"
    if sparse.issparse(a):
        parts = ("shape", "data", "indices", "indptr")
        return first(((f".{p}", getattr(a, p), getattr(b, p)) for p in parts), without)
    if isinstance(a, dict):
        if list(a) != list(b):
            return f": {list(a)} and {list(b)}"
        return first(((f"[{key!r}]", a[key], b[key]) for key in a), without)
    if isinstance(a, (list, tuple)):
        return "" if len(a) == len(b) and all_same(a, b, without) else f": {a} and {b}"
    if hasattr(a, "__dict__") and not isinstance(a, type):
        mine, theirs = (
            {k: v for k, v in vars(x).items() if not is_cached(x, k) and k not in without}
            for x in (a, b)
        )
        return same(mine, theirs, without)
    if callable(getattr(a, "keys", None)):
        return same(dict(a), dict(b), without)
    return "" if a == b or a != a != b != b else f": {a!r} and {b!r}"


def all_same(a, b, without=()):
    return not any(same(x, y, without) for x, y in zip(a, b, strict=True))


def first(triples, without=()):
    found = ((where, same(a, b, without)) for where, a, b in triples)
    return next((where + difference for where, difference in found if difference), "")


def is_cached(value, name):
    return isinstance(getattr(type(value), name, None), cached_property) or name == "_table"


def same_answers(a, b, X):
    """Assert that two models say the same of items, to the last bit."""
    for question in ("predict", "decision_function", "predict_proba"):
        if hasattr(a, question):
            mine, theirs = getattr(a, question)(X), getattr(b, question)(X)
            assert not same(mine, theirs), question
    assert a.predict_labels(X) == b.predict_labels(X)
    assert a.predict_paths(X) == b.predict_paths(X)
