"""``train`` and ``predict`` on a Dask cluster, and their options."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from glob import escape, glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from taxonomist.cli.checks import OptionError, bad_rows_explained
from taxonomist.cli.output import print_note, progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from distributed import Client

    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.text import TextClassifier
    from taxonomist.workflow.cluster_training import ClusterResult
    from taxonomist.workflow.predictions import Wanted

__all__ = ["Cluster", "Dask", "RowRules", "Workers", "predict_files", "train_on_files"]

Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        help="Address of a Dask scheduler, such as tcp://scheduler:8786, whose workers do the "
        "work; DATA is then a pattern of files that they can read, such as 'parts-*.parquet'.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        help="Number of processes to start on this machine as a cluster, instead of --dask.",
    ),
]


class Cluster(NamedTuple):
    """The cluster to use: a scheduler, or processes on this machine."""

    address: str | None
    n_workers: int | None

    def __bool__(self) -> bool:
        """Return whether there is a cluster."""
        return self.address is not None or self.n_workers is not None

    @contextmanager
    def client(self) -> Iterator[Client]:
        """Yield a client, after printing the address of the dashboard."""
        from taxonomist.distributed.connection import connected

        if self.address is not None and self.n_workers is not None:
            raise OptionError("Pass either --dask or --workers, not both.")
        with connected(self.address, self.n_workers or 1) as client:
            print_note(f"The dashboard of the cluster is at {client.dashboard_link}.")
            try:
                yield client
            except KeyboardInterrupt:
                # Dask still waits for what is given up, and would log that with a traceback.
                logging.getLogger("asyncio").setLevel(logging.CRITICAL)
                raise


class RowRules(NamedTuple):
    """Which rows to skip, as in ``read_labelled``, and how to write predictions for rows."""

    skip_bad: bool
    strict: bool = False
    separator: str = ";"
    raw_cells: bool = False


def files_of(pattern: str) -> list[str]:
    """Return the files of a pattern in order; raise if there are none."""
    found = sorted(glob(pattern, recursive=True))
    if not found:
        raise OptionError(f"No file matches {pattern!r}. Pass a pattern such as 'parts-*.parquet'.")
    return found


def train_on_files(
    cluster: Cluster,
    classifier: TextClassifier,
    source: TableSource,
    columns: Columns,
    test_size: float,
    rows: RowRules,
) -> ClusterResult:
    """Train a classifier on a cluster, from the files of a pattern.

    Parameters
    ----------
    cluster
        The cluster.
    classifier
        The unfitted classifier.
    source
        The pattern, and the format and encoding of all files.
    columns
        Roles of the columns.
    test_size
        Fraction of the items to hold out.
    rows
        Which rows to skip.
    """
    from taxonomist.workflow.cluster_training import train_on_cluster

    if classifier.taxonomy is None:
        raise OptionError("Training on a cluster needs a taxonomy: pass --taxonomy.")
    files = [source._replace(path=path) for path in files_of(source.path)]
    with cluster.client() as client, progress("files") as on_step, bad_rows_explained():
        found = train_on_cluster(
            classifier,
            files,
            columns,
            client,
            test_size=test_size,
            skip_bad=rows.skip_bad,
            strict=rows.strict,
            on_step=on_step,
        )
    for note in found.notes:
        print_note(note)
    return found


def predict_files(
    cluster: Cluster,
    classifier: TextClassifier,
    source: TableSource,
    columns: Columns,
    out: Path | None,
    wanted: Wanted,
    to: str | None,
    rows: RowRules,
) -> None:
    """Predict the rows of the files of a pattern, with one output for each file.

    Existing outputs are kept, so that an interrupted command continues where it stopped.

    Parameters
    ----------
    cluster
        The cluster.
    classifier
        The fitted classifier.
    source
        The pattern, and the format and encoding of all files.
    columns
        Roles of the columns.
    out
        The folder for the outputs.
    wanted
        What the predictions should contain.
    to
        The format of the outputs; CSV by default.
    rows
        Which rows to skip, and how to write them.
    """
    from taxonomist.distributed.dask_engine import DaskEngine

    if out is None or out.is_file():
        raise OptionError("On a cluster, pass a folder for the predictions with --out.")
    files = files_of(source.path)
    places = output_places(files, out, to or "csv")
    out.mkdir(parents=True, exist_ok=True)
    left = [pair for pair in zip(files, places, strict=True) if not pair[1].exists()]
    if len(left) < len(files):
        print_note(f"{len(files) - len(left):,} of {len(files):,} files already have predictions.")
    if not left:
        return
    n_rows = 0
    with (
        cluster.client() as client,
        progress("files") as on_step,
        bad_rows_explained(),
        DaskEngine(client) as engine,
    ):
        sources = [source._replace(path=path) for path, _ in left]
        shared = columns, engine.scatter(classifier), wanted, rows
        handles = engine.map(predict_file, sources, [place for _, place in left], shared=shared)
        on_step("Classifying", 0, len(left))
        for n_done, handle in enumerate(engine.finished(handles), 1):
            n_rows += engine.gather([handle])[0]
            on_step("Classifying", n_done, len(left))
    for _, place in left:
        drop_unfinished(place)
    print_note(f"Wrote {n_rows:,} rows to {out}.")


def output_places(files: Sequence[str], out: Path, to: str) -> list[Path]:
    """Return the output of each file; raise if two files would have the same."""
    places = [out / f"{Path(name).name.split('.')[0]}.{to}" for name in files]
    for name, place in zip(files, places, strict=True):
        if place.exists() and place.samefile(name):
            raise OptionError(f"--out {out} contains the inputs. Pass another folder.")
    if len(set(places)) < len(places):
        raise OptionError(
            "Several files have the same name, so their outputs would too. Rename them, or predict "
            "each folder separately."
        )
    return places


def drop_unfinished(place: Path) -> None:
    """Remove what killed workers left of an output: it is written beside its place."""
    for left in place.parent.glob(f".{escape(place.name)}.*"):
        left.unlink(missing_ok=True)


def predict_file(
    source: TableSource,
    out: Path,
    columns: Columns,
    classifier: TextClassifier,
    wanted: Wanted,
    rows: RowRules,
) -> int:
    """Write the predictions for the rows of a file; return their number."""
    from taxonomist import workflow
    from taxonomist.cli.prediction_output import PredictionOutput

    predictor = workflow.Predictor(classifier, wanted)
    output = PredictionOutput(out, out.suffix[1:], wanted, rows.separator, rows.raw_cells)
    with workflow.predict_table(predictor, source, columns, skip_bad=rows.skip_bad) as predictions:
        return output.fill(predictions)
