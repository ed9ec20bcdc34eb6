"""Synthetic items under a tree, separable by a hierarchical linear model [CH04, Sec. 6.3]."""

from __future__ import annotations

from itertools import accumulate, product
from typing import TYPE_CHECKING

import numpy as np

from taxonomist.datasets.corpus import Corpus
from taxonomist.errors import ParameterError
from taxonomist.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes, Floats

__all__ = ["make_taxonomy_data"]

MAX_DRAWS = 10_000
"""Maximum number of points drawn per accepted one."""


def make_taxonomy_data(
    n_items: int = 1000,
    n_features: int = 20,
    branching: int = 3,
    depth: int = 3,
    margin: float = 0.001,
    variances: Sequence[float] | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Corpus:
    """Generate labelled points that are separable by a hierarchical linear model.

    Every node of a complete tree gets a normal weight vector; a category's weight vector is the
    sum along its path. A point belongs to the category with the highest score, and is kept if that
    score exceeds the second highest by more than the margin [CH04, Sec. 6.3]. The paper states
    neither the variances nor the distribution of the points. Here, points are uniform on the unit
    sphere and variances halve from level to level, starting at 1/4. These values were chosen so
    that a flat SVM comes close to the accuracies of the paper's Table 1 at both of its margins.

    Parameters
    ----------
    n_items
        Number of points.
    n_features
        Number of features.
    branching
        Number of children of each interior node.
    depth
        Number of levels below the root.
    margin
        Minimum difference between the two highest scores, rho in the paper.
    variances
        Variance of the weights at each level from the top, ``depth`` values; by default
        1/4, 1/8, 1/16, ...
    random_state
        Seed or generator; the same seed gives the same data.

    Returns
    -------
    Corpus
        The points with one label each; node ids look like ``"1.3.2"``.

    Raises
    ------
    ValueError
        If a parameter is out of range, or the margin is so large that hardly any point is kept.
    """
    least = {"n_items": 1, "n_features": 1, "branching": 2, "depth": 1}
    for name, value in zip(least, (n_items, n_features, branching, depth), strict=True):
        if value < least[name]:
            raise ParameterError(f"{name} must be at least {least[name]}. Got {value} instead.")
    levels = [0.5**level for level in range(2, depth + 2)] if variances is None else list(variances)
    if len(levels) != depth or not all(variance >= 0 for variance in levels):
        raise ParameterError(
            f"variances must be {depth} values of at least 0, one per level. "
            f"Got {variances} instead."
        )
    rng = np.random.default_rng(random_state)
    weights = _category_weights(rng, n_features, branching, levels)
    X, best = _accepted_points(rng, weights, n_items, margin)
    steps = [str(child) for child in range(1, branching + 1)]
    paths = [list(accumulate(path, "{}.{}".format)) for path in product(steps, repeat=depth)]
    return Corpus(
        name="synthetic",
        taxonomy=Taxonomy.from_paths(paths, ids="name"),
        labels=[(paths[code][-1],) for code in best],
        X=X,
        description=f"Points under a tree with {branching} children a node and depth {depth}.",
    )


def _category_weights(
    rng: np.random.Generator, n_features: int, branching: int, variances: Sequence[float]
) -> Floats:
    """Return the weight vectors of the categories, shape (branching ** depth, n_features)."""
    weights = np.zeros((1, n_features))
    for variance in variances:
        weights = np.repeat(weights, branching, axis=0)
        weights += rng.normal(scale=np.sqrt(variance), size=weights.shape)
    return weights


def _accepted_points(
    rng: np.random.Generator, weights: Floats, n_items: int, margin: float
) -> tuple[Floats, Codes]:
    """Return points beyond the margin, and the code of each point's best category."""
    block = max(1, min(2**22 // len(weights), 4 * n_items))
    X, best = [], []
    n_drawn = n_kept = 0
    while n_kept < n_items:
        if n_drawn > MAX_DRAWS * (n_kept + 1):
            raise ParameterError(
                f"margin={margin} is too large: only {n_kept} of {n_drawn} points exceed it. "
                "Choose a smaller margin or larger variances."
            )
        points = rng.normal(size=(block, weights.shape[1]))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        scores = points @ weights.T
        second, first = np.partition(scores, -2, axis=1)[:, -2:].T
        kept = first - second > margin
        X.append(points[kept])
        best.append(scores[kept].argmax(axis=1))
        n_drawn += block
        n_kept += int(kept.sum())
    return np.concatenate(X)[:n_items], np.concatenate(best)[:n_items]
