"""The blend and the decision of ``DaskPathSVC``, fitted to held-out rows on the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taxonomist.distributed.path_parts import PathPart, pick_rows
from taxonomist.inference.scorers import Scored
from taxonomist.models.learning import Training, hand_over
from taxonomist.models.path_tuning import most_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist._typing import Codes
    from taxonomist.distributed.engine import Engine, Handle
    from taxonomist.inference.scorers import Scorer
    from taxonomist.models.path_svc import PathSVC


class HeldOut(NamedTuple):
    """Items that were held out, and the scorer that was trained without them."""

    scorer: Scorer
    items: Codes


def without_folds(model: PathSVC, weighted: Codes) -> list[HeldOut]:
    """Return items to tune on if none can be held out: a sample of all, with the model's scorer."""
    is_single = model.targets_.is_single
    n_scores = len(model.classes_) if is_single else 4 * model.taxonomy_.n_nodes
    some = np.random.default_rng(0).permutation(weighted)[: most_items(n_scores)]
    return [HeldOut(model.scorer_, np.sort(some))]


def tune(
    engine: Engine,
    parts: Sequence[Handle],
    first: Codes,
    model: PathSVC,
    held_out: Sequence[HeldOut],
) -> None:
    """Fit the blend, or the probabilities of nodes and the decision, of a model.

    Parameters
    ----------
    engine
        The engine.
    parts
        Handles of ``PathPart``.
    first
        The number of the first item of each part, (n_parts + 1,).
    model
        The model, which has a scorer.
    held_out
        The held-out items of each fold.
    """
    together = np.sort(np.concatenate([fold.items for fold in held_out]))
    used = np.unique(together)
    ends = np.searchsorted(used, first)
    pieces = [used[a:b] - k for a, b, k in zip(ends, ends[1:], first, strict=False)]
    where = [number for number, items in enumerate(pieces) if len(items)]
    picked = engine.map(pick_rows, [parts[k] for k in where], [pieces[k] for k in where])
    rows = PathPart.joined(engine.gather(picked))
    targets = model.targets_.with_labels(rows.labels)
    training = Training(rows.X, targets, rows.weights)
    tuning = model.tuning(training, np.searchsorted(used, together))
    for fold in held_out:
        items = np.searchsorted(used, fold.items)
        hand_over(Scored(fold.scorer, rows.X[items]), items, [tuning])
    for name, value in tuning.finish().items():
        setattr(model, name, value)
