"""Lines of the list of what a paper contains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal[
    "model",
    "equation",
    "proposition",
    "algorithm",
    "measure",
    "features",
    "table",
    "figure",
    "claim",
]
JUDGED_KINDS = ("table", "figure", "claim")


@dataclass(frozen=True, kw_only=True)
class Line:
    """One thing that a paper contains.

    Attributes
    ----------
    kind
        What it is.
    number
        Its place in the paper: a number such as ``"Eq. 24"`` or a section such as ``"6.4"``.
    says
        What it says, in a few words.
    code
        Full names of what implements it, such as ``"taxonomist.losses.category_loss"``.
    tests
        The tests that prove it, such as ``"tests/oracle/test_joint_svm.py::test_hard_margin"``.
    judged
        For tables, figures and claims: a part such as ``"table-2"`` and some words of its judged
        claims, or no words for all of them.
    differs
        What is different here.
    absent
        Why it is not here.
    """

    kind: Kind
    number: str
    says: str
    code: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    judged: tuple[tuple[str, str], ...] = ()
    differs: str = ""
    absent: str = ""


def line(
    kind: Kind,
    number: str,
    says: str,
    code: str = "",
    tests: str = "",
    *,
    judged: tuple[tuple[str, str], ...] = (),
    differs: str = "",
    absent: str = "",
) -> Line:
    """Return a line from names that are separated by blanks, without their common beginnings.

    Parameters
    ----------
    kind, number, says, judged, differs, absent
        As in :class:`Line`.
    code
        Names below ``taxonomist``.
    tests
        Names below ``tests``, without ``.py``: ``"oracle/test_joint_svm::test_hard_margin"``.

    Returns
    -------
    Line
        The line.
    """
    return Line(
        kind=kind,
        number=number,
        says=says,
        code=tuple(f"taxonomist.{name}" for name in code.split()),
        tests=tuple(f"tests/{name.replace('::', '.py::')}" for name in tests.split()),
        judged=judged,
        differs=differs,
        absent=absent,
    )
