from __future__ import annotations

import re
from functools import partial
from io import StringIO

import pytest
from rich.console import Console
from rich.text import Text

from taxonomist.cli import output, progress_bars
from tests.waiting import wait_for


class Screen:
    """A terminal of 80 columns, and a clock that tests move."""

    def __init__(self) -> None:
        self.now = 0.0
        self.file = StringIO()
        self.console = partial(
            Console, file=self.file, force_terminal=True, width=80, get_time=lambda: self.now
        )

    def lines(self) -> list[str]:
        """Return all that was drawn, without bars and codes."""
        plain = Text.from_ansi(re.sub(r"\x1b\[(\d+A|2K|\?25[lh])", "", self.file.getvalue())).plain
        return [
            " ".join(line.translate({ord(c): " " for c in "━╸╺"}).split())
            for line in plain.splitlines()
        ]


@pytest.fixture
def screen(monkeypatch):
    found = Screen()
    monkeypatch.setattr(progress_bars, "Console", lambda stderr: found.console())
    monkeypatch.setattr(output, "is_terminal", lambda stream: True)
    return found


def test_a_step_stops_its_clock_when_the_next_one_begins(screen):
    with output.progress("fits") as report:
        report("Counting", 0, None)
        screen.now = 4
        report("Comparing", 0, 9)
        screen.now = 30
        report("Drawing", 0, None)
        screen.now = 60
    assert screen.lines()[-3:] == ["Counting 4 s", "Comparing 0/9 26 s", "Drawing 30 s"]


def test_times_are_said_in_words(screen):
    with output.progress("fits") as report:
        report("Comparing", 0, 9)
        screen.now = 30
        report("Comparing", 3, 9)
        wait_for(lambda: "Comparing 3/9 30 s, about 60 s left" in screen.lines())


def test_a_note_has_a_line_of_its_own_while_its_step_runs(screen):
    note = "path + svm, C=1, about 5 s, at most 2 min left"
    with output.progress("models") as report:
        report("Trying models", 4, 7, note)
        wait_for(lambda: note in screen.lines())
        report("Measuring", 0, None)
    assert screen.lines()[-2:] == ["Trying models 4/7 1 s", "Measuring 1 s"]


def test_notes_stand_above_the_bars(screen):
    with output.progress("fits") as report:
        report("Comparing", 1, 9)
        output.print_note("Compiling.")
        report("Comparing", 2, 9)
    assert screen.lines().count("Compiling.") == 1
    assert not any("Compiling" in line and "Comparing" in line for line in screen.lines())
