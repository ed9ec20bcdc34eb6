"""Progress as bars on a terminal, one for each step."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
)
from rich.table import Column
from rich.text import Text

from taxonomist._terminals import visible_line
from taxonomist.workflow.steps import span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from taxonomist.workflow.steps import OnStep

__all__ = ["progress_bars"]

WIDTH = 24
"""Width of a bar: the rest of 80 columns is for names and times."""


class _Count(MofNCompleteColumn):
    """How much is done; empty for a step that is not counted."""

    def render(self, task: Task) -> Text:
        """Return the count of a step."""
        return super().render(task) if task.fields["is_counted"] else Text()


class _Times(ProgressColumn):
    """How long a step has taken, and how long it will still take if that is known."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        """Return the times of a step."""
        elapsed = task.elapsed or 0.0
        shown = span(elapsed)
        is_running = task.stop_time is None and not task.finished
        # A note has its own estimate.
        if is_running and task.total and task.completed and not task.fields["note"]:
            left = elapsed * (task.total - task.completed) / task.completed
            shown += f", about {span(left)} left"
        return Text(shown)


class _Bars(Progress):
    """Bars, and below them the note of the current step, which has a line of its own."""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return what is drawn."""
        yield self.make_tasks_table(self.tasks)
        if self.tasks and (note := self.tasks[-1].fields["note"]):
            yield Text(f"  {note}")


@contextmanager
def progress_bars(unit: str) -> Iterator[OnStep]:
    """Yield a callback that draws a bar for each step on standard error.

    A step ends when the next one begins, and the last one at the end of the body.

    Parameters
    ----------
    unit
        Unit of the progress; ``"bytes"`` are shown as the size of a download.
    """
    name = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True))
    count = DownloadColumn() if unit == "bytes" else _Count()
    columns = (name, BarColumn(WIDTH), count, _Times(Column(no_wrap=True)))
    with _Bars(*columns, console=Console(stderr=True)) as bars:
        tasks: dict[str, TaskID] = {}

        def end(step: str) -> None:
            """Stop the clock of a step, and fill its bar if nothing was counted."""
            bars.stop_task(tasks[step])
            bars.update(tasks[step], note="")
            if bars.tasks[tasks[step]].total is None:
                bars.update(tasks[step], total=1, completed=1)

        def report(step: str, done: int, total: int | None, note: str = "") -> None:
            if step not in tasks:
                if tasks:
                    end(list(tasks)[-1])
                tasks[step] = bars.add_task(
                    visible_line(step), total=None, note="", is_counted=False
                )
            is_counted, note = bool(done or total), visible_line(note)
            bars.update(tasks[step], completed=done, total=total, note=note, is_counted=is_counted)

        yield report
        if tasks:
            end(list(tasks)[-1])
