"""``taxonomist compare``: models side by side, cross-validated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from taxonomist.cli.options import (
    UTF_8,
    Cost,
    Data,
    Encoding,
    Format,
    Label,
    PathSeparator,
    Seed,
    Separator,
    SkipBad,
    TaxonomyFile,
    TaxonomyFormat,
    Text,
)
from taxonomist.cli.output import AsJson, progress

if TYPE_CHECKING:
    from taxonomist.cli.labelled import Labelled
    from taxonomist.evaluation import Comparison

FLAT = "flat"
"""The model that the others are tested against."""
MEASURES = {
    False: ("accuracy", "taxonomy_loss", "hierarchical_f1", "macro_f1"),
    True: ("zero_one_loss", "symmetric_difference_loss", "hierarchical_f1", "macro_f1"),
}
"""What is measured, by whether items have label sets."""


def compare(
    data: Data,
    models: Annotated[
        str, typer.Option(help="Models with commas between them; flat is always one of them.")
    ] = "svm,flat",
    taxonomy: TaxonomyFile = None,
    text: Text = "text",
    label: Label = "label",
    separator: Separator = None,
    path_separator: PathSeparator = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds that are held out in turn.")] = 3,
    C: Cost = None,
    seed: Seed = 0,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    skip_bad: SkipBad = False,
    taxonomy_format: TaxonomyFormat = None,
    format: Format = None,
    encoding: Encoding = UTF_8,
    as_json: AsJson = False,
) -> None:
    """Cross-validate models and compare them with the flat one, which knows no taxonomy.

    Stars mark what is significant: * p < 0.05, ** p < 0.01, paired permutation tests.
    """
    from taxonomist.cli.items import Columns
    from taxonomist.cli.labelled import read_labelled, read_taxonomy
    from taxonomist.cli.rows import Source
    from taxonomist.text.models import choice_of

    names = list(dict.fromkeys([*(name.strip() for name in models.split(",")), FLAT]))
    for name in names:
        choice_of(name)
    known = read_taxonomy(taxonomy, taxonomy_format)
    columns = Columns(text, label, separator=separator, path_separator=path_separator)
    labelled = read_labelled(Source(data, format, encoding), columns, known, skip_bad=skip_bad)
    table = _compared(labelled, names, 1.0 if C is None else C, folds, seed)
    if as_json:
        typer.echo(table.to_json())
    else:
        typer.echo(table.to_markdown() if markdown else table.to_text())


def _compared(labelled: Labelled, names: list[str], C: float, folds: int, seed: int) -> Comparison:
    """Return the models side by side."""
    from taxonomist.evaluation import Plan
    from taxonomist.evaluation import compare as compare_models
    from taxonomist.text import TextClassifier

    with progress("fits") as report:
        plan = Plan(
            measures=MEASURES[labelled.is_multilabel],
            taxonomy=labelled.taxonomy,
            cv=folds,
            per_item=True,
            random_state=seed,
            callback=lambda done, total, _: report("Comparing", done, total),
        )
        candidates = {
            name: TextClassifier(
                labelled.taxonomy, model=name, C=C, calibration=None, random_state=seed
            )
            for name in names
        }
        return compare_models(candidates, labelled.texts, labelled.targets, plan, baseline=FLAT)
