"""``taxonomist compare``: cross-validate several models and compare them."""

from __future__ import annotations

from typing import Annotated

import typer

from taxonomist.cli.checks import OptionError, check_cost, check_models, prefix_lengths
from taxonomist.cli.next_steps import after_comparing, source_arguments
from taxonomist.cli.options import (
    CodePrefixes,
    Cost,
    Data,
    EmptyIsNone,
    Encoding,
    Format,
    Label,
    PathSeparator,
    Seed,
    Separator,
    Sheet,
    SkipBad,
    Strict,
    TaxonomyFile,
    TaxonomyFormat,
    Text,
)
from taxonomist.cli.output import AsJson, print_text, progress
from taxonomist.cli.taxonomy_file import Cycles, Outside, read_taxonomy


def compare(
    data: Data,
    models: Annotated[
        str,
        typer.Option(
            help="Models to compare, separated by commas; 'taxonomist models' lists them. "
            "'flat' is always included."
        ),
    ] = "path,flat",
    taxonomy: TaxonomyFile = None,
    text: Text = "text",
    label: Label = "label",
    separator: Separator = None,
    path_separator: PathSeparator = None,
    code_prefixes: CodePrefixes = None,
    empty_is_none: EmptyIsNone = False,
    folds: Annotated[int, typer.Option(min=2, help="Number of cross-validation folds.")] = 3,
    C: Cost = None,
    seed: Seed = 0,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    skip_bad: SkipBad = False,
    strict: Strict = False,
    taxonomy_format: TaxonomyFormat = None,
    cycles: Cycles = "error",
    outside: Outside = "drop",
    format: Format = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Cross-validate models and compare them with the flat model, which ignores the taxonomy.

    Stars mark significant differences in paired permutation tests: * p < 0.05, ** p < 0.01.
    """
    from taxonomist import workflow
    from taxonomist.cli.reading import read_labelled
    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.table_file import TableSource

    names = [name.strip() for name in models.split(",")]
    check_models(names)
    check_cost(C)
    prefixes = prefix_lengths(code_prefixes)
    known = None
    if taxonomy is not None:
        known = read_taxonomy(taxonomy, taxonomy_format, cycles, outside)
    columns = Columns(text, label, separator, path_separator, prefixes, empty_is_none)
    source = TableSource(data, format, encoding, sheet=sheet)
    labelled = read_labelled(source, columns, known, skip_bad=skip_bad, strict=strict)
    if folds > len(labelled.texts):
        raise OptionError(f"--folds {folds} is more than the {len(labelled.texts)} items.")
    with progress("fits") as on_step:
        table = workflow.compare(
            labelled,
            names,
            C=1.0 if C is None else C,
            n_folds=folds,
            random_state=seed,
            on_step=on_step,
        )
    if as_json:
        print_text(table.to_json())
    else:
        print_text(table.to_markdown() if markdown else table.to_text())
    after_comparing(source_arguments(data, format, encoding, sheet))
