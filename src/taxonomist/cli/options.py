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
"""Those of ``taxonomist.datasets.table_formats``, which help must not take the time to load."""
UTF_8 = "utf-8"
"""The encoding of data unless another is named."""

Data = Annotated[
    str,
    typer.Argument(
        help="Rows in CSV, TSV, JSON lines or Parquet, gzip'd or not; '-' for standard input."
    ),
]
ModelFolder = Annotated[Path, typer.Argument(help="Folder of the model that 'train' made.")]
TaxonomyFile = Annotated[
    Path | None,
    typer.Option(
        "--taxonomy",
        "-t",
        help="Taxonomy in CSV, TSV, JSON, SKOS or OBO, gzip'd or not. Without one, it is built "
        "from labels such as 'A > B > C', or has one level.",
    ),
]
TaxonomyFormat = Annotated[
    str | None,
    typer.Option(help="Format of the taxonomy, if its suffix does not say: csv, levels, json, ..."),
]
Text = Annotated[
    str, typer.Option("--text", help="Column of the text; several with commas: title,abstract.")
]
TrainedText = Annotated[
    str | None,
    typer.Option("--text", help="Column of the text; by default as when the model was trained."),
]
Label = Annotated[
    str,
    typer.Option("--label", help="Column of the label: a code, a path 'A > B', or a JSON list."),
]
TrainedLabel = Annotated[
    str | None,
    typer.Option("--label", help="Column of the label; by default as when the model was trained."),
]
Separator = Annotated[
    str | None, typer.Option(help="What separates several labels in a cell, such as ';'.")
]
PathSeparator = Annotated[
    str | None, typer.Option(help="What separates the steps of paths in labels; by default ' > '.")
]
Id = Annotated[
    str | None, typer.Option("--id", help="Column of ids; by default 'id' if there is one.")
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help=f"Format of the data: {', '.join(TABLE_FORMATS)}; else its suffix."
    ),
]
Encoding = Annotated[str, typer.Option(help="Encoding of the data, such as cp1252.")]
SkipBad = Annotated[
    bool,
    typer.Option("--skip-bad", help="Leave out rows without text or with an unknown label."),
]
Every = Annotated[
    bool, typer.Option("--all", help="Also measure on items that the model was trained on.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all that is drawn.")]
Cost = Annotated[
    float | None, typer.Option("--C", help="Cost of slack of SVMs; by default 1, or what is best.")
]
