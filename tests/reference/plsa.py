"""Probabilistic latent semantic analysis straight from its equations: dense, slow, obvious."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse


def log_likelihood(counts, words, shares, weights):
    """Return Σ_d u_d Σ_w n_dw log Σ_c P(w|c) P(c|d)  [TCPH01, Eq. 14]."""
    total = 0.0
    for d, w in zip(*np.nonzero(counts), strict=True):
        p = sum(words[w, c] * shares[d, c] for c in range(words.shape[1]))
        if p > 0:
            total += weights[d] * counts[d, w] * np.log(p)
    return total


def step(counts, words, shares, weights):
    """Return P(w|c) and P(c|d) after a step of EM, with all responsibilities in one array."""
    joint = shares[:, None, :] * words[None, :, :]
    total = joint.sum(axis=2, keepdims=True)
    responsibilities = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
    parts = counts[:, :, None] * responsibilities
    new_words = (weights[:, None, None] * parts).sum(axis=0)
    new_shares = parts.sum(axis=1)
    known = new_shares.sum(axis=1, keepdims=True)
    columns = new_words.sum(axis=0)
    return (
        np.divide(new_words, columns, out=np.zeros_like(new_words), where=columns > 0),
        np.where(known > 0, new_shares / np.where(known > 0, known, 1), shares),
    )


def start(counts, labels, weights, smoothing, spread):
    """Return P(w|c) by Lidstone smoothing and P(c|d) by the labels, item by item."""
    n_items, n_features = counts.shape
    n_categories = labels.shape[1]
    words = np.zeros((n_features, n_categories))
    for d in range(n_items):
        for c in np.flatnonzero(labels[d]):
            words[:, c] += weights[d] * counts[d] / labels[d].sum()
    used = [c for c in range(n_categories) if words[:, c].sum() > 0]
    known = [w for w in range(n_features) if (weights * counts[:, w]).sum() > 0]
    for c in used:
        words[known, c] += smoothing
        words[:, c] /= words[:, c].sum()
    shares = np.zeros((n_items, n_categories))
    for d in range(n_items):
        own = [c for c in used if labels[d, c]]
        others = [c for c in used if not labels[d, c]]
        part = 1.0 if not own else 0.0 if not others else spread
        shares[d, own] = (1 - part) / max(len(own), 1)
        shares[d, others] = part / max(len(others), 1)
    return words, shares


def left_out_likelihood(counts, labels, smoothing):
    """Return the log-likelihood of items by their categories' counts, really without each."""
    n_words = (counts.sum(axis=0) > 0).sum()
    total = 0.0
    for d in range(len(counts)):
        others = np.arange(len(counts)) != d
        for c in np.flatnonzero(labels[d]):
            mine = labels[others, c] / np.maximum(labels[others].sum(axis=1), 1)
            pooled = mine @ counts[others]
            p = (pooled + smoothing) / (pooled.sum() + smoothing * n_words)
            total += counts[d] @ np.log(p) / labels[d].sum()
    return total


def best_shares(counts, words):
    """Return the shares of one item with the largest likelihood, by an interior-point solver.

    The variables are the shares and t_w <= log P(w|d), an exponential cone for each word.
    """
    here = np.flatnonzero((counts > 0) & (words.sum(axis=1) > 0))
    n_categories, n_words = words.shape[1], len(here)
    n = n_categories + n_words
    rows = [np.concatenate([np.ones(n_categories), np.zeros(n_words)])]
    right = [1.0]
    rows += [*-np.eye(n_categories, n)]
    right += [0.0] * n_categories
    for a, w in enumerate(here):
        rows += [-np.eye(n)[n_categories + a], np.zeros(n)]
        rows.append(np.concatenate([-words[w], np.zeros(n_words)]))
        right += [0.0, 1.0, 0.0]
    cones = [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(n_categories)]
    cones += [clarabel.ExponentialConeT()] * n_words
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    goal = np.concatenate([np.zeros(n_categories), -counts[here]])
    none, A = sparse.csc_matrix((n, n)), sparse.csc_matrix(np.array(rows))
    solution = clarabel.DefaultSolver(none, goal, A, np.array(right), cones, settings).solve()
    return np.array(solution.x[:n_categories]), -solution.obj_val
