"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "UTF_8",
    "Cost",
    "Data",
    "Encoding",
    "Every",
    "Format",
    "Id",
    "Label",
    "ModelFolder",
    "PathSeparator",
    "RawCells",
    "Seed",
    "Separator",
    "SkipBad",
    "TaxonomyFile",
    "TaxonomyFormat",
    "Text",
    "TrainedLabel",
    "TrainedText",
]

TABLE_FORMATS = ("csv", "tsv", "jsonl", "parquet")
"""Same as in ``taxonomist.datasets.table_formats``, which is too slow to import for ``--help``."""
UTF_8 = "utf-8"
"""The default encoding of data."""

RawCells = Annotated[
    bool,
    typer.Option(
        "--raw-cells",
        help="Write CSV cells as they are. By default, cells that spreadsheets would run as "
        "formulas get an apostrophe in front.",
    ),
]
Data = Annotated[
    str,
    typer.Argument(
        help="File in CSV, TSV, JSON lines or Parquet, optionally gzipped; '-' reads standard "
        "input."
    ),
]
ModelFolder = Annotated[Path, typer.Argument(help="Folder of a model saved by 'train'.")]
TaxonomyFile = Annotated[
    Path | None,
    typer.Option(
        "--taxonomy",
        "-t",
        help="Taxonomy file in CSV, TSV, JSON, SKOS or OBO, optionally gzipped. By default, the "
        "taxonomy is built from labels such as 'A > B > C', or has a single level.",
    ),
]
TaxonomyFormat = Annotated[
    str | None,
    typer.Option(
        help="Format of the taxonomy file: csv, levels, json, turtle, xml, json-ld, nt, n3 or "
        "obo. By default, determined by the suffix."
    ),
]
Text = Annotated[
    str,
    typer.Option(
        "--text", help="Column with the text, or several separated by commas: title,abstract."
    ),
]
TrainedText = Annotated[
    str | None,
    typer.Option("--text", help="Column with the text; by default, the one used in training."),
]
Label = Annotated[
    str,
    typer.Option(
        "--label", help="Column with the label: a code, a path 'A > B', or a JSON list of labels."
    ),
]
TrainedLabel = Annotated[
    str | None,
    typer.Option("--label", help="Column with the label; by default, the one used in training."),
]
Separator = Annotated[
    str | None, typer.Option(help="Separator between several labels in a cell, such as ';'.")
]
PathSeparator = Annotated[
    str | None,
    typer.Option(help="Separator between the levels of a path in a label; by default, ' > '."),
]
Id = Annotated[
    str | None, typer.Option("--id", help="Column with ids; by default, 'id' if it exists.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help=f"Format of the data: {', '.join(TABLE_FORMATS[:-1])} or {TABLE_FORMATS[-1]}. By "
        "default, determined by the suffix or the content.",
    ),
]
Encoding = Annotated[str, typer.Option(help="Encoding of the data, such as cp1252.")]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad", help="Skip bad rows, such as rows without text or with an unknown label."
    ),
]
Every = Annotated[bool, typer.Option("--all", help="Include rows that the model was trained on.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]
Cost = Annotated[
    float | None,
    typer.Option(
        "--C",
        help="Regularisation parameter of SVMs; larger values fit the training data more "
        "closely. By default 1; 'train --model auto' looks for the best value.",
    ),
]
