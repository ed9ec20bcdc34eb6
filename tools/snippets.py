"""The snippets of pages: find them, run them, and see what they print.

The ``python`` blocks of a page share one namespace, in order; blocks of ``>>>`` examples are
checked as doctests. In ``console`` blocks the lines ``$ taxonomist ...`` are run and must succeed;
lines below a command are checked against what it prints, with ``...`` for any text. A command goes
on in the next line if its line ends in a backslash. An HTML comment ``<!-- not run: why -->`` on
the line above keeps a block from being run, and the code inside ``<!-- run first:`` is run but not
shown.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import sys
import tempfile
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch
from warnings import catch_warnings, simplefilter

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = re.compile(
    r"^(?:<!-- run first:\n(?P<hidden>.*?)^-->$"
    r"|(?P<skip><!-- not run: [^\n]+ -->\n+)?"
    r"```(?P<kind>[\w{}-]*)(?: [^\n]*)?\n(?P<code>.*?)^```$)",
    re.M | re.S,
)
COMMAND = re.compile(r"^(?P<line>\$ (?:.*\\\n)*.*)\n?(?P<shown>(?:(?!\$ ).*\n)*)", re.M)
PROMPT = "$ taxonomist "
COLUMNS = 100
"""Width of the terminal that commands see."""

_LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class SnippetError(Exception):
    """A snippet failed, or shows something else than it prints."""


class Command(NamedTuple):
    """A line ``$ ...`` of a console block, and the lines shown below it."""

    line: str
    shown: str

    @property
    def arguments(self) -> list[str] | None:
        """What ``taxonomist`` is called with; None for other programs, which are not run."""
        if not self.line.startswith(PROMPT):
            return None
        return shlex.split(self.line.removeprefix(PROMPT).replace("\\\n", " "))


class Block(NamedTuple):
    """A fenced block of a page, with its place in the page's text."""

    kind: str
    code: str
    line: int
    start: int
    end: int

    @property
    def commands(self) -> list[Command]:
        """The commands of a console block."""
        return [Command(match["line"], match["shown"]) for match in COMMAND.finditer(self.code)]


class Outcome(NamedTuple):
    """What running a block printed: its text, or for a console block that of each command."""

    block: Block
    printed: str
    commands: tuple[str, ...]


def blocks_to_run(text: str) -> list[Block]:
    """Return the blocks of a page that are run, in order."""
    found = []
    for match in BLOCK.finditer(text):
        kind = "hidden" if match["hidden"] is not None else match["kind"]
        part = "hidden" if kind == "hidden" else "code"
        line = text.count("\n", 0, match.start(part))
        block = Block(kind, match[part], line, match.start(), match.end())
        is_run = kind in ("python", "hidden") or any(
            command.arguments is not None for command in block.commands
        )
        if is_run and not match["skip"]:
            found.append(block)
    return found


def run_page(text: str, name: str, namespace: dict[str, object]) -> Iterator[Outcome]:
    """Run the snippets of a page in the current folder, and yield what each one printed."""
    namespace["__name__"] = "__main__"
    for block in blocks_to_run(text):
        if block.kind == "console":
            yield Outcome(block, "", tuple(_run_command(each) for each in block.commands))
        elif ">>>" in block.code:
            check_examples(block, name, namespace)
            yield Outcome(block, "", ())
        else:
            printed = StringIO()
            with redirect_stdout(printed):
                # Blank lines in front, so that a traceback shows the line of the page.
                exec(compile("\n" * block.line + block.code, name, "exec"), namespace)
            yield Outcome(block, printed.getvalue(), ())


def check_examples(block: Block, name: str, namespace: dict[str, object]) -> None:
    """Run a block of ``>>>`` examples; raise if a result differs from the one that is shown."""
    examples = doctest.DocTestParser().get_doctest(block.code, namespace, name, name, block.line)
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(examples, out=failures.append, clear_globs=False)
    namespace.update(examples.globs)
    if failures:
        raise SnippetError("".join(failures))


def _run_command(command: Command) -> str:
    """Run a command and return what a terminal would show; raise if it fails or differs."""
    if command.arguments is None:
        return command.shown
    code, printed = _call(command.arguments)
    if code:
        raise SnippetError(f"{command.line}\nended with exit code {code}:\n{printed}")
    if command.shown and not doctest.OutputChecker().check_output(command.shown, printed, _LOOSE):
        raise SnippetError(f"{command.line}\nshows\n{command.shown}\nbut prints\n{printed}")
    return printed


class _Terminal(StringIO):
    """Text that a program takes for a terminal."""

    def isatty(self) -> bool:
        return True


def _call(arguments: list[str]) -> tuple[int, str]:
    """Call ``taxonomist`` in this process, its output on a terminal without colours."""
    from taxonomist.cli import main

    shown = _Terminal()
    notes = StringIO()
    notes.write = shown.write  # type: ignore[method-assign]
    terminal = {"COLUMNS": str(COLUMNS), "LINES": "50", "TERM": "dumb", "NO_COLOR": "1"}
    with (
        redirect_stdout(shown),
        redirect_stderr(notes),
        catch_warnings(),
        patch.dict(os.environ, terminal),
        patch.object(sys, "argv", ["taxonomist", *arguments]),
    ):
        simplefilter("default")  # a warning does not end the command
        try:
            main()
        except SystemExit as exit_:
            return int(exit_.code or 0), shown.getvalue()
    return 0, shown.getvalue()


@contextmanager
def workplace() -> Iterator[None]:
    """Work in an empty folder, as a user who has no corpora beside the bundled one."""
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        patch.dict(os.environ, {"XDG_DATA_HOME": "/home/me/.local/share"}),
    ):
        os.environ.pop("TAXONOMIST_DATA", None)
        yield
