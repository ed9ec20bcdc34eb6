"""Loops of the hierarchical mixture: pooled counts, words left out, and the steps of EM.

A *source* is a distribution of words: that of a node, or of a part of its items. All loops take one
source after another, write its row into an array over the vocabulary, and look words up there, so
that no array has categories or sources times words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from taxonomist._typing import Codes, Floats
from taxonomist.compiled.arrays import Rows
from taxonomist.compiled.jit import compiled
from taxonomist.compiled.rows import row_sum


class Readers(NamedTuple):
    """The categories that have each source on their paths, and the slots of its weights."""

    indptr: Codes  # (n_sources + 1,)
    categories: Codes  # (n_slots,)
    slots: Codes  # (n_slots,)


class ItemParts(NamedTuple):
    """Parts of items that belong to categories, in the order of categories."""

    indptr: Codes  # (n_categories + 1,)
    items: Codes  # (n_entries,)
    shares: Floats  # (n_entries,)
    start: Codes  # (n_entries + 1,)  of the components of an entry: words x nodes of the path


class LeaveOutRoom(NamedTuple):
    """Scratch arrays of ``leave_out_expected``, all 0 before and after."""

    words: Floats  # (n_words,)  P(w|v)
    expected: Floats  # (n_words,)  counts from the source
    shares: Floats  # (n_words,)  P(v|c,w)
    taken: Floats  # (nnz of X,)  counts of items from the source
    lengths: Floats  # (n_items,)  their sums


ROUNDING = 1e-12
"""A remainder of at most this part of a count is due to rounding."""


@compiled()
def damp_counts(
    ends: Codes,  # in (n_items + 1,)
    counts: Floats,  # in (nnz,)  above 0
    logs: Floats,  # in (n_logs,)  log(1 + n) of small whole numbers n; empty: counts stay
    power: float,
    reference: float,
    damped: Floats,  # out (nnz,)
) -> None:
    """Write logarithms of counts, times (reference / their sum over the item)^power."""
    for i in range(len(ends) - 1):
        length = 0.0
        for k in range(ends[i], ends[i + 1]):
            n = counts[k]
            if len(logs) > 0:
                n = logs[int(n)] if n < len(logs) and n == int(n) else np.log1p(n)
            damped[k] = n
            length += n
        if power > 0.0 and length > 0.0:
            factor = (reference / length) ** power
            for k in range(ends[i], ends[i + 1]):
                damped[k] *= factor


@compiled()
def count_words(
    X: Rows,  # in (n_items, n_words) CSR
    parts: Rows,  # in (n_items, n_groups) CSC
    last: Codes,  # scratch (n_words,)  -1 before
    n_different: Codes,  # out (n_groups,)
) -> None:
    """Count the different words of the items of each group."""
    for g in range(len(n_different)):
        n = 0
        for e in range(parts.indptr[g], parts.indptr[g + 1]):
            i = parts.indices[e]
            for k in range(X.indptr[i], X.indptr[i + 1]):
                w = X.indices[k]
                if last[w] != g:
                    last[w] = g
                    n += 1
        n_different[g] = n


@compiled()
def pool_words(
    X: Rows,  # in (n_items, n_words) CSR
    parts: Rows,  # in (n_items, n_groups) CSC
    item_weights: Floats,  # in (n_items,)
    place: Codes,  # scratch (n_words,)  -1 before and after
    pooled: Rows,  # out (n_groups, n_words) CSR; indptr in, data 0 before
    having: Floats,  # out (nnz of pooled,)  0 before: weight of the items that have the word
) -> None:
    """Add up the counts of the items of each group, each times its part."""
    for g in range(len(pooled.indptr) - 1):
        end = pooled.indptr[g]
        for e in range(parts.indptr[g], parts.indptr[g + 1]):
            i, part = parts.indices[e], parts.data[e]
            for k in range(X.indptr[i], X.indptr[i + 1]):
                w = X.indices[k]
                if place[w] < 0:
                    place[w] = end
                    pooled.indices[end] = w
                    end += 1
                pooled.data[place[w]] += part * X.data[k]
                having[place[w]] += item_weights[i]
        for k in range(pooled.indptr[g], end):
            place[pooled.indices[k]] = -1


@compiled(inline=True)
def _leave_item_out(
    X: Rows,  # in (n_items, n_words) CSR
    i: int,
    part: float,  # of the item that is in the source
    total: float,  # Σ of ``words``
    words: Floats,  # in (n_words,)  counts of the source
    at: int,  # where the component of the first word goes
    step: int,  # and how far from it the next one
    components: Floats,  # out
) -> None:
    """Write P(w|v) without item i for its words; remainders as small as rounding errors are 0."""
    length = row_sum(X, i)
    rest = total - part * length
    if rest <= ROUNDING * total:
        return
    for k in range(X.indptr[i], X.indptr[i + 1]):
        whole = words[X.indices[k]]
        left = whole - part * X.data[k]
        if left > ROUNDING * whole:
            components[at] = left / rest
        at += step


@compiled()
def leave_out(
    X: Rows,  # in (n_items, n_words) CSR
    entries: ItemParts,  # in
    own: Rows,  # in (n_items, n_sources) CSC: parts of items in sources, to be taken out
    pooled: Rows,  # in (n_sources, n_words) CSR
    readers: Readers,  # in
    first: Codes,  # in (n_categories + 1,)  first slot of each path
    words: Floats,  # scratch (n_words,)  0 before and after
    part: Floats,  # scratch (n_items,)  0 before and after
    components: Floats,  # out (entries.start[-1],)
) -> None:
    """Write P(w|v) without the item itself for the words of all entries."""
    for s in range(len(pooled.indptr) - 1):
        total = 0.0
        for k in range(pooled.indptr[s], pooled.indptr[s + 1]):
            words[pooled.indices[k]] = pooled.data[k]
            total += pooled.data[k]
        for e in range(own.indptr[s], own.indptr[s + 1]):
            part[own.indices[e]] = own.data[e]
        for r in range(readers.indptr[s], readers.indptr[s + 1]):
            c = readers.categories[r]
            n_nodes = first[c + 1] - first[c]
            position = readers.slots[r] - first[c]
            for e in range(entries.indptr[c], entries.indptr[c + 1]):
                i = entries.items[e]
                at = entries.start[e] + position
                _leave_item_out(X, i, part[i], total, words, at, n_nodes, components)
        for k in range(pooled.indptr[s], pooled.indptr[s + 1]):
            words[pooled.indices[k]] = 0.0
        for e in range(own.indptr[s], own.indptr[s + 1]):
            part[own.indices[e]] = 0.0


@compiled()
def expect_weights(
    X: Rows,  # in (n_items, n_words) CSR
    entries: ItemParts,  # in
    components: Floats,  # in (entries.start[-1],)
    first: Codes,  # in (n_categories + 1,)
    weights: Floats,  # in (n_slots,)  P(v|c)
    uniform: Floats,  # in (n_categories,)  P(uniform node|c) / n_words
    pull: Floats,  # out (n_slots,)  0 before: Σ n P(w|v) / P(w|c)
    uniform_pull: Floats,  # out (n_categories,)  0 before: Σ n / P(w|c)
) -> float:
    """Add up the derivatives of Σ n log P(w|c) by the weights, and return that sum.

    Words that have no probability at any node on the path are left out.
    """
    total = 0.0
    for c in range(len(uniform)):
        low, high = first[c], first[c + 1]
        for e in range(entries.indptr[c], entries.indptr[c + 1]):
            i = entries.items[e]
            at = entries.start[e] - low
            for k in range(X.indptr[i], X.indptr[i + 1]):
                mixed = uniform[c]
                for slot in range(low, high):
                    mixed += weights[slot] * components[at + slot]
                if mixed > 0.0:
                    n = entries.shares[e] * X.data[k]
                    total += n * np.log(mixed)
                    n /= mixed
                    for slot in range(low, high):
                        pull[slot] += n * components[at + slot]
                    uniform_pull[c] += n
                at += high - low
    return total


@compiled()
def left_out_likelihoods(
    X: Rows,  # in (n_items, n_words) CSR
    entries: ItemParts,  # in; its starts are not used
    own: Floats,  # in (n_entries,)  the part of each entry that is to be taken out
    counts: Rows,  # in (n_categories, n_words) CSR
    alphas: Floats,  # in (n_alphas,)
    words: Floats,  # scratch (n_words,)  0 before and after
    likelihoods: Floats,  # out (n_alphas,)  0 before
) -> None:
    """Add up Σ n log P(w|c) without the item itself, for each Lidstone parameter."""
    n_words = len(words)
    for c in range(len(entries.indptr) - 1):
        total = 0.0
        for k in range(counts.indptr[c], counts.indptr[c + 1]):
            words[counts.indices[k]] = counts.data[k]
            total += counts.data[k]
        for e in range(entries.indptr[c], entries.indptr[c + 1]):
            i = entries.items[e]
            length = row_sum(X, i)
            rest = max(total - own[e] * length, 0.0)
            for a in range(len(alphas)):
                amount = entries.shares[e] * length
                likelihoods[a] -= amount * np.log(rest + alphas[a] * n_words)
            for k in range(X.indptr[i], X.indptr[i + 1]):
                left = max(words[X.indices[k]] - own[e] * X.data[k], 0.0)
                n = entries.shares[e] * X.data[k]
                for a in range(len(alphas)):
                    likelihoods[a] += n * np.log(left + alphas[a])
        for k in range(counts.indptr[c], counts.indptr[c + 1]):
            words[counts.indices[k]] = 0.0


@compiled()
def mix_words(
    counts: Rows,  # in (n_categories, n_words) CSR
    sources: Rows,  # in (n_sources, n_words) CSR: P(w|v)
    readers: Readers,  # in
    weights: Floats,  # in (n_slots,)  P(v|c)
    uniform: Floats,  # in (n_categories,)  P(uniform node|c) / n_words
    beta: float,
    words: Floats,  # scratch (n_words,)  0 before and after
    mixed: Floats,  # out (nnz of counts,)  Σ_v (P(v|c) P(w|v))^β
) -> float:
    """Mix the sources' probabilities of each category's words; return Σ n log(mixed) / β.

    Words that have no probability at any source on the path are left out.
    """
    for c in range(len(uniform)):
        for k in range(counts.indptr[c], counts.indptr[c + 1]):
            mixed[k] = uniform[c] ** beta
    for s in range(len(sources.indptr) - 1):
        for k in range(sources.indptr[s], sources.indptr[s + 1]):
            words[sources.indices[k]] = sources.data[k]
        for r in range(readers.indptr[s], readers.indptr[s + 1]):
            c, weight = readers.categories[r], weights[readers.slots[r]]
            for k in range(counts.indptr[c], counts.indptr[c + 1]):
                joint = weight * words[counts.indices[k]]
                mixed[k] += joint if beta == 1.0 else joint**beta
        for k in range(sources.indptr[s], sources.indptr[s + 1]):
            words[sources.indices[k]] = 0.0
    total = 0.0
    for k in range(len(mixed)):
        if mixed[k] > 0.0:
            total += counts.data[k] * np.log(mixed[k])
    return total / beta


@compiled()
def move_words(
    counts: Rows,  # in (n_categories, n_words) CSR
    sources: Rows,  # in/out (n_sources, n_words) CSR: P(w|v)
    readers: Readers,  # in
    weights: Floats,  # in (n_slots,)  P(v|c)
    beta: float,
    mixed: Floats,  # in (nnz of counts,)  what ``mix_words`` wrote
    words: Floats,  # scratch (n_words,)  0 before and after
    expected: Floats,  # scratch (n_words,)  0 before and after
) -> None:
    """Re-estimate P(w|v) from the expected counts of words from each source.

    A source whose expected counts are all 0 stays as it is.
    """
    for s in range(len(sources.indptr) - 1):
        for k in range(sources.indptr[s], sources.indptr[s + 1]):
            words[sources.indices[k]] = sources.data[k]
        for r in range(readers.indptr[s], readers.indptr[s + 1]):
            c, weight = readers.categories[r], weights[readers.slots[r]]
            for k in range(counts.indptr[c], counts.indptr[c + 1]):
                w = counts.indices[k]
                joint = weight * words[w]
                if joint > 0.0:
                    joint = joint if beta == 1.0 else joint**beta
                    expected[w] += counts.data[k] * joint / mixed[k]
        total = 0.0
        for k in range(sources.indptr[s], sources.indptr[s + 1]):
            total += expected[sources.indices[k]]
        for k in range(sources.indptr[s], sources.indptr[s + 1]):
            w = sources.indices[k]
            if total > 0.0:
                sources.data[k] = expected[w] / total
            expected[w] = 0.0
            words[w] = 0.0


@compiled(inline=True)
def _take(X: Rows, i: int, part: float, room: LeaveOutRoom) -> None:
    """Add the counts that a part of item i has from a source."""
    for k in range(X.indptr[i], X.indptr[i + 1]):
        n = part * X.data[k] * room.shares[X.indices[k]]
        room.taken[k] += n
        room.lengths[i] += n


@compiled(inline=True)
def _leave_expected_out(
    X: Rows,  # in (n_items, n_words) CSR
    i: int,
    total: float,  # Σ of ``room.expected``
    at: int,  # where the component of the first word goes
    step: int,  # and how far from it the next one
    room: LeaveOutRoom,  # in
    components: Floats,  # out
) -> None:
    """Write P(w|v) without item i for its words; remainders as small as rounding errors are 0."""
    rest = total - room.lengths[i]
    for k in range(X.indptr[i], X.indptr[i + 1]):
        whole = room.expected[X.indices[k]]
        left = whole - room.taken[k]
        is_left = rest > ROUNDING * total and left > ROUNDING * whole
        components[at] = left / rest if is_left else 0.0
        at += step


@compiled(inline=True)
def _forget(rows: Rows, row: int, words: Floats) -> None:
    """Set the words of a row to 0."""
    for k in range(rows.indptr[row], rows.indptr[row + 1]):
        words[rows.indices[k]] = 0.0


@compiled(inline=True)
def _expect_words(
    c: int,
    weight: float,  # P(v|c)
    counts: Rows,  # in (n_categories, n_words) CSR
    beta: float,
    mixed: Floats,  # in (nnz of counts,)
    room: LeaveOutRoom,  # in: words; in/out: expected; out: shares of the words of c
) -> None:
    """Add the counts that category c expects from a source."""
    for k in range(counts.indptr[c], counts.indptr[c + 1]):
        w = counts.indices[k]
        joint = weight * room.words[w]
        if joint > 0.0:
            joint = joint if beta == 1.0 else joint**beta
            room.shares[w] = joint / mixed[k]
            room.expected[w] += counts.data[k] * room.shares[w]


@compiled()
def leave_out_expected(
    X: Rows,  # in (n_items, n_words) CSR
    entries: ItemParts,  # in
    own: Floats,  # in (n_entries,)  the part of each entry that is to be taken out
    counts: Rows,  # in (n_categories, n_words) CSR
    sources: Rows,  # in (n_sources, n_words) CSR: P(w|v) before the step
    readers: Readers,  # in
    weights: Floats,  # in (n_slots,)  P(v|c)
    beta: float,
    mixed: Floats,  # in (nnz of counts,)  what ``mix_words`` wrote
    first: Codes,  # in (n_categories + 1,)  first slot of each path
    room: LeaveOutRoom,
    components: Floats,  # out (entries.start[-1],)
) -> None:
    """Write P(w|v) as ``move_words`` re-estimates it, without the item itself.

    The counts that an item adds to a source are its own, times P(v|c,w) of each of its categories.
    """
    for s in range(len(sources.indptr) - 1):
        for k in range(sources.indptr[s], sources.indptr[s + 1]):
            room.words[sources.indices[k]] = sources.data[k]
        for r in range(readers.indptr[s], readers.indptr[s + 1]):
            c = readers.categories[r]
            _expect_words(c, weights[readers.slots[r]], counts, beta, mixed, room)
            for e in range(entries.indptr[c], entries.indptr[c + 1]):
                _take(X, entries.items[e], own[e], room)
            _forget(counts, c, room.shares)
        total = 0.0
        for k in range(sources.indptr[s], sources.indptr[s + 1]):
            total += room.expected[sources.indices[k]]
        for r in range(readers.indptr[s], readers.indptr[s + 1]):
            c = readers.categories[r]
            at = readers.slots[r] - first[c]
            for e in range(entries.indptr[c], entries.indptr[c + 1]):
                start, step = entries.start[e] + at, first[c + 1] - first[c]
                _leave_expected_out(X, entries.items[e], total, start, step, room, components)
        for r in range(readers.indptr[s], readers.indptr[s + 1]):
            c = readers.categories[r]
            for e in range(entries.indptr[c], entries.indptr[c + 1]):
                i = entries.items[e]
                room.lengths[i] = 0.0
                room.taken[X.indptr[i] : X.indptr[i + 1]] = 0.0
        _forget(sources, s, room.words)
        _forget(sources, s, room.expected)
