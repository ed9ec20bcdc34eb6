"""``taxonomist train``: train a model on labelled texts."""

from __future__ import annotations

from contextlib import contextmanager
from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taxonomist.cli.checks import (
    OptionError,
    check_budget,
    check_cost,
    check_model,
    check_share,
    prefix_lengths,
)
from taxonomist.cli.cluster import Cluster, Dask, RowRules, Workers, train_on_files
from taxonomist.cli.names_only import check_names_only, train_on_names
from taxonomist.cli.next_steps import after_train, source_arguments
from taxonomist.cli.options import (
    CodePrefixes,
    Cost,
    EmptyIsNone,
    Encoding,
    Format,
    Label,
    OptionalData,
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
from taxonomist.cli.output import (
    AsJson,
    print_facts,
    print_note,
    progress,
)
from taxonomist.cli.places import check_folder
from taxonomist.cli.taxonomy_file import Cycles, Outside, read_taxonomy
from taxonomist.cli.training_output import print_result, row_facts

if TYPE_CHECKING:
    from collections.abc import Iterator


Out = Annotated[
    Path,
    typer.Option("--out", "-o", help="Folder for the model; an existing model is replaced."),
]
DEFAULT_MODEL = "path"
"""Same as the one in ``taxonomist.text.models``, which is too slow to import for ``--help``."""
BUDGET = 120.0
"""Same as in ``taxonomist.text.budget``, which is too slow to import for ``--help``."""
MEASURE = "hierarchical_f1"
"""Same as in ``taxonomist.text.measure``, which is too slow to import for ``--help``."""


def train(
    out: Out,
    data: OptionalData = None,
    taxonomy: TaxonomyFile = None,
    text: Text = "text",
    label: Label = "label",
    separator: Separator = None,
    path_separator: PathSeparator = None,
    code_prefixes: CodePrefixes = None,
    empty_is_none: EmptyIsNone = False,
    model: Annotated[
        str,
        typer.Option(
            help="Name of a model; 'taxonomist models' lists them. 'auto' tries a few and keeps "
            "the best one."
        ),
    ] = DEFAULT_MODEL,
    C: Cost = None,
    features: Annotated[
        str,
        typer.Option(
            help="Features of texts: words, 'words 1-2' (also pairs), 'words + characters' or "
            "'words 1-2 + characters'; auto chooses on held-out rows."
        ),
    ] = "auto",
    names: Annotated[
        str,
        typer.Option(
            help="Whether to learn from the names of categories too: auto (unless held-out rows "
            "are better without), on, off, or the weight of a name beside a row."
        ),
    ] = "auto",
    words: Annotated[
        int | None, typer.Option(min=1, help="Longest word n-grams to use, instead of --features.")
    ] = None,
    characters: Annotated[
        str | None,
        typer.Option(
            help="Lengths of character n-grams to add, such as 3-5; instead of --features."
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="Weight of each text column, such as 3,1.")
    ] = None,
    vectors: Annotated[
        str,
        typer.Option(
            help="Sentence vectors beside words: auto (if the extra 'vectors' is installed and "
            "--budget allows), on or off; or a folder with an encoder.",
        ),
    ] = "auto",
    calibration: Annotated[
        str,
        typer.Option(
            help="Calibration of probabilities: auto (the model's own, if it has them), "
            "temperature, platt or isotonic; none for a model without probabilities."
        ),
    ] = "auto",
    test_size: Annotated[
        float, typer.Option(help="Fraction of the rows to hold out for measuring the model.")
    ] = 0.2,
    final: Annotated[
        bool,
        typer.Option("--final", help="After measuring, retrain on all rows, held-out ones too."),
    ] = False,
    budget: Annotated[
        float,
        typer.Option(
            help="Seconds for the search of 'auto', and for '--vectors auto'; 'inf' means no "
            "limit. Models that would take longer are left out. Ctrl-C ends the search, and the "
            "best model so far is trained."
        ),
    ] = BUDGET,
    measure: Annotated[
        str,
        typer.Option(
            help="What choices are compared by, and label sets are decided for: "
            "hierarchical_f1, accuracy, taxonomy_loss, micro_f1 or macro_f1."
        ),
    ] = MEASURE,
    names_only: Annotated[
        bool,
        typer.Option(
            "--names-only",
            help="Train without data, on the names in --taxonomy; needs the extra 'vectors'.",
        ),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue an interrupted training from its finished branches; pass the same data "
            "and options.",
        ),
    ] = False,
    seed: Seed = 0,
    skip_bad: SkipBad = False,
    strict: Strict = False,
    taxonomy_format: TaxonomyFormat = None,
    cycles: Cycles = "error",
    outside: Outside = "drop",
    format: Format = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    dask: Dask = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Train a model on labelled texts, measure it on held-out ones, and save it.

    Nothing is saved if a row is bad, unless you pass --skip-bad.
    """
    from taxonomist import workflow
    from taxonomist.cli.reading import read_labelled
    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.text import TextClassifier
    from taxonomist.text.name_documents import as_names
    from taxonomist.text.parameters import check_parameters

    if model != "auto":
        check_model(model)
    check_cost(C)
    check_share(test_size)
    check_budget(budget)
    check_names_only(data, taxonomy, names_only)
    _check_target(out)
    check_folder(out, [taxonomy] if data is None else [data, taxonomy])
    options: dict[str, Any] = {
        "model": model,
        "C": C,
        "words": "auto" if words is None else (1, words),
        "characters": "auto" if characters is None else _range(characters),
        "features": features,
        "names": as_names(names),
        "weights": _numbers(weights),
        "calibration": None if calibration == "none" else calibration,
        "random_state": seed,
        "budget": None if isinf(budget) else budget,
        "vectors": vectors,
        "measure": measure,
    }
    check_parameters(TextClassifier(**options))
    prefixes = prefix_lengths(code_prefixes)
    known = None
    if taxonomy is not None:
        known = read_taxonomy(taxonomy, taxonomy_format, cycles, outside)
    columns = Columns(text, label, separator, path_separator, prefixes, empty_is_none)
    if data is None:
        train_on_names(TextClassifier(known, **options), columns, out, as_json)
        return
    source = TableSource(data, format, encoding, sheet=sheet)
    if cluster := Cluster(dask, workers):
        _check_cluster(final, vectors, resume)
        unfitted, rows = TextClassifier(known, **options), RowRules(skip_bad, strict)
        found = train_on_files(cluster, unfitted, source, columns, test_size, rows)
        found.training.classifier.save(out)
        print_result(out, found.bad, "given", found.training, final=False, as_json=as_json)
        return
    labelled = read_labelled(source, columns, known, skip_bad=skip_bad, strict=strict)
    if not as_json:
        print_facts(row_facts(labelled))
    classifier = TextClassifier(labelled.taxonomy, **options)
    if model == "auto":
        print_note(_about_search(budget))
    with _resumable(out, resume):
        with progress("models") as on_step:
            result = workflow.train(
                classifier, labelled, columns, test_size=test_size, final=final, on_step=on_step
            )
        result.classifier.save(out)
    print_result(out, labelled.bad, labelled.origin, result, final=final, as_json=as_json)
    is_measurable = result.assessment is not None and not final
    if is_measurable and not as_json:
        print_note("Use --final to retrain the model on all items.")
    after_train(out, source_arguments(data, format, encoding, sheet), is_measurable)


def _about_search(budget: float) -> str:
    limit = "" if isinf(budget) else f" for at most {budget:g} s"
    return f"Looking for the best model{limit}. Ctrl-C ends the search with the best one so far."


def _check_target(out: Path) -> None:
    """Raise, before training, if the model could not be saved here."""
    from taxonomist.errors import ModelFileError

    is_free = not out.exists() or (out.is_dir() and not any(out.iterdir()))
    if not is_free and not (out / "manifest.json").exists():
        raise ModelFileError(
            f"{out} exists and is not a Taxonomist model, so it is not replaced. Pass another path."
        )


def _range(given: str | None) -> tuple[int, int] | None:
    """Parse the shortest and the longest character n-grams."""
    if given is None:
        return None
    least, _, most = given.partition("-")
    try:
        found = int(least), int(most or least)
    except ValueError:
        found = (0, 0)
    if not 1 <= found[0] <= found[1]:
        raise OptionError(f"--characters must be a range such as 3-5. Got {given!r}.")
    return found


def _numbers(given: str | None) -> list[float] | None:
    try:
        return None if given is None else [float(part) for part in given.split(",")]
    except ValueError:
        raise OptionError(f"--weights must be numbers such as 3,1. Got {given!r}.") from None


@contextmanager
def _resumable(out: Path, resume: bool) -> Iterator[None]:
    """Keep finished branches, and print a note about them if the training fails."""
    from taxonomist.workflow.resuming import branches_folder, n_kept, resumable

    if resume and not n_kept(out):
        print_note("There are no finished branches to continue from, so training starts over.")
    try:
        with resumable(out, resume=resume):
            yield
    except BaseException as error:
        if n_kept(out):
            print_note(
                f"Finished branches are kept in {branches_folder(out)}. To continue from them, run "
                "the same command with --resume."
            )
        elif isinstance(error, OSError):
            print_note("No branch was finished, so nothing is kept.")
        raise


def _check_cluster(final: bool, vectors: str, resume: bool) -> None:
    """Raise for options that are not available on a cluster."""
    if resume:
        raise OptionError("--resume is not available on a cluster. Leave it out.")
    if final:
        raise OptionError("--final is not available on a cluster. Pass --test-size 0 instead.")
    if vectors not in ("auto", "off"):
        raise OptionError("--vectors is not available on a cluster. Leave it out.")
