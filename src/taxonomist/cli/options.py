"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "FILE",
    "CodePrefixes",
    "Cost",
    "Data",
    "EmptyIsNone",
    "Encoding",
    "Every",
    "Format",
    "Id",
    "Label",
    "ModelFolder",
    "OptionalData",
    "PathSeparator",
    "RawCells",
    "Seed",
    "Separator",
    "Sheet",
    "SkipBad",
    "Strict",
    "TaxonomyFile",
    "TaxonomyFormat",
    "Text",
    "TrainedLabel",
    "TrainedText",
]

TABLE_FORMATS = ("csv", "tsv", "jsonl", "json", "excel", "parquet")
"""Same as in ``taxonomist.datasets.table_formats``, which is too slow to import for ``--help``."""
FILE = (
    "File in CSV, TSV, JSON, Excel or Parquet, optionally gzipped, or alone in a zip archive; '-' "
    "reads standard input."
)

RawCells = Annotated[
    bool,
    typer.Option(
        "--raw-cells",
        help="Write CSV cells as they are. By default, cells that spreadsheets would run as "
        "formulas get an apostrophe in front.",
    ),
]
Data = Annotated[str, typer.Argument(help=FILE)]
OptionalData = Annotated[str | None, typer.Argument(help=FILE, show_default=False)]
ModelFolder = Annotated[Path, typer.Argument(help="Folder of a model saved by 'train'.")]
TaxonomyFile = Annotated[
    Path | None,
    typer.Option(
        "--taxonomy",
        "-t",
        help="Taxonomy file in CSV, TSV, JSON, SKOS or OBO, optionally gzipped. By default, the "
        "taxonomy is built from the labels: from several label columns, from paths such as "
        "'A > B > C' or with --code-prefixes; other labels form a single level.",
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
        "--label",
        help="Column with the label: a code, a path 'A > B', or a JSON list of labels. Several "
        "columns, such as level1,level2,level3, are the levels of a path from the top.",
    ),
]
TrainedLabel = Annotated[
    str | None,
    typer.Option(
        "--label", help="Column with the label, or its levels; by default, as used in training."
    ),
]
Separator = Annotated[
    str | None, typer.Option(help="Separator between several labels in a cell, such as ';'.")
]
PathSeparator = Annotated[
    str | None,
    typer.Option(help="Separator between the levels of a path in a label; by default, ' > '."),
]
CodePrefixes = Annotated[
    str | None,
    typer.Option(
        help="Build the taxonomy from codes: lengths of the prefixes that are a code's ancestors. "
        "With 2,3 the code 1119 is below 111, which is below 11. Characters are counted as "
        "written, spaces inside a code included."
    ),
]
EmptyIsNone = Annotated[
    bool,
    typer.Option(
        "--empty-is-none",
        help="For label sets: an empty cell means that the item has no labels, not that its label "
        "is missing.",
    ),
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
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of the data, such as cp1252. By default, found among UTF-8, UTF-16, cp1252 "
        "and Latin-1."
    ),
]
Sheet = Annotated[
    str | None, typer.Option(help="Sheet of an Excel file; by default, the first one.")
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad", help="Skip bad rows, such as rows without text or with an unknown label."
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict", help="Treat rows without a label as bad rows, instead of skipping them."
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
