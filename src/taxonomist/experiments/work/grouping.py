"""Categories grouped by agglomerative clustering of their words [TCPH01, Sec. 3.1.2]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster import hierarchy
from scipy.special import xlogy

from taxonomist.experiments.declarations import Result, Settings
from taxonomist.taxonomy import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes, Floats
    from taxonomist.experiments.work.trials import MakeProblem

N_PERMUTATIONS = 1999
_SEED = 0
GROUP_SETTINGS = Settings(
    tolerance="none: the clustering is exact.",
    features="counts of all words of the training stories of a category, plain or times "
    "log N / N_u.",
    splits="only training stories are used.",
    draws="one; p-values are of 1,999 permutations.",
)


def grouped(problem: MakeProblem, *, linkage: str, metric: str = "", tfidf: bool = False) -> Result:
    """Group the leaves of a taxonomy of depth two by their words, into as many groups as it has.

    Parameters
    ----------
    problem
        Loads the data; the training items of the first split are used.
    linkage, metric
        As in ``scipy.cluster.hierarchy.linkage``; or ``"likelihood"``, which needs no metric.
    tfidf
        Whether to multiply counts by log N / df.

    Returns
    -------
    Result
        The result of :func:`compared` for the groups and the nodes at depth one.
    """
    data = problem()
    X, y = data.X[data.splits[0][0]], [data.y[item] for item in data.splits[0][0]]
    leaves = labels.encode(data.taxonomy, data.taxonomy.leaves)
    counts = (labels.encode_sets(data.taxonomy, y)[:, leaves].T.astype(np.float64) @ X).toarray()
    if tfidf:
        having = np.bincount(X.indices, minlength=X.shape[1])
        counts *= np.log(len(y) / np.maximum(having, 1))
    used = np.flatnonzero(counts.sum(axis=1))
    parents = [data.taxonomy.parents(data.taxonomy.leaves[leaf])[0] for leaf in used]
    names, given = np.unique(parents, return_inverse=True)
    if linkage == "likelihood":
        found = likelihood_groups(counts[used], len(names))
    else:
        tree = hierarchy.linkage(counts[used], linkage, metric)
        found = hierarchy.fcluster(tree, len(names), "maxclust") - 1
    return compared(found, given, names.tolist())


def likelihood_groups(counts: Floats, n_groups: int) -> Codes:
    """Repeatedly merge the two groups whose counts lose the least likelihood.

    Parameters
    ----------
    counts
        Points x words; the counts of a group are the sum of those of its points.
    n_groups
        Final number of groups.

    Returns
    -------
    ndarray
        The group of each point. The loss of a merge is measured by the log-likelihood of the
        counts, with one distribution over words per group.
    """
    sums = counts.copy()
    group = np.arange(len(counts))
    loss = np.full((len(counts), len(counts)), np.inf)
    for row in range(1, len(counts)):
        loss[row, :row] = _lost(sums[row], sums[:row])
    for _ in range(len(counts) - n_groups):
        gone, kept = np.unravel_index(np.argmin(loss), loss.shape)
        sums[kept] += sums[gone]
        group[group == gone] = kept
        loss[gone, :] = loss[:, gone] = np.inf
        others = np.setdiff1d(group, [kept])
        loss[np.maximum(others, kept), np.minimum(others, kept)] = _lost(sums[kept], sums[others])
    return np.asarray(np.unique(group, return_inverse=True)[1])


def _lost(one: Floats, others: Floats) -> Floats:
    """Return the log-likelihood lost by pooling counts with those of each other row."""
    return _log_likelihood(one) + _log_likelihood(others) - _log_likelihood(one + others)


def _log_likelihood(counts: Floats) -> Floats:
    totals = counts.sum(axis=-1)
    return np.asarray(xlogy(counts, counts).sum(axis=-1) - xlogy(totals, totals))


def compared(found: Codes, given: Codes, names: Sequence[str]) -> Result:
    """Return how well groups agree with given ones.

    Parameters
    ----------
    found, given
        The group of each point, numbered from 0.
    names
        Names of the given groups.

    Returns
    -------
    Result
        ``rand``, the adjusted Rand index, and its ``p_value`` for shuffled points; for each group
        found, largest first, its ``size 1``, ``size 2``, ... and its number of points from each
        given group, as in ``energy 1``.
    """
    from sklearn.metrics import adjusted_rand_score

    rand = float(adjusted_rand_score(given, found))
    rng = np.random.default_rng(_SEED)
    # With fixed group sizes, the index grows with the number of pairs in common.
    pairs = _pairs(found, given)
    drawn = [_pairs(rng.permutation(found), given) for _ in range(N_PERMUTATIONS)]
    p_value = (1 + sum(one >= pairs for one in drawn)) / (1 + N_PERMUTATIONS)
    values = {"rand": [rand], "p_value": [p_value]}
    largest_first = np.argsort(-np.bincount(found, minlength=len(names)), kind="stable")
    for number, code_found in enumerate(largest_first):
        inside = found == code_found
        values[f"size {number + 1}"] = [float(inside.sum())]
        for code, name in enumerate(names):
            values[f"{name} {number + 1}"] = [float(np.sum(inside & (given == code)))]
    return Result(values)


def _pairs(found: Codes, given: Codes) -> int:
    """Return the number of ordered pairs of points that share both groups."""
    sizes = np.bincount(found * (given.max() + 1) + given)
    return int(sizes @ sizes)
