"""``taxonomist train``: from rows of texts and labels to a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taxonomist.cli.checks import (
    OptionError,
    check_cost,
    check_models,
    check_share,
)
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
from taxonomist.cli.output import (
    AsJson,
    print_facts,
    print_json,
    print_note,
    print_table,
    progress,
)

if TYPE_CHECKING:
    from taxonomist.workflow import Labelled, TrainingResult

Out = Annotated[
    Path, typer.Option("--out", "-o", help="Folder of the model; replaced if it is a model.")
]
ORIGINS = {
    "given": "as given",
    "paths": "built from the paths in the labels",
    "labels": "none: the labels have one level",
}
SCORE = "Score: hierarchical F1 of label sets, else minus the taxonomy loss; more is better."


def train(
    data: Data,
    out: Out,
    taxonomy: TaxonomyFile = None,
    text: Text = "text",
    label: Label = "label",
    separator: Separator = None,
    path_separator: PathSeparator = None,
    model: Annotated[
        str,
        typer.Option(
            help="auto (tries a few), svm, flat, ranking, markov, perceptron, nodes, top_down, "
            "mixture, shrinkage, naive_bayes or neighbours."
        ),
    ] = "auto",
    C: Cost = None,
    words: Annotated[int, typer.Option(min=1, help="Most words that make a feature.")] = 1,
    characters: Annotated[
        str | None, typer.Option(help="Also pieces of words of so many letters, such as 3-5.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="How often each text column counts, such as 3,1.")
    ] = None,
    calibration: Annotated[
        str, typer.Option(help="Probabilities: auto, temperature, platt, isotonic; or none.")
    ] = "auto",
    test_size: Annotated[
        float, typer.Option(help="Share of the items that are held out to measure the model.")
    ] = 0.2,
    final: Annotated[
        bool, typer.Option("--final", help="Then train once more on all items, held-out ones too.")
    ] = False,
    seed: Seed = 0,
    skip_bad: SkipBad = False,
    taxonomy_format: TaxonomyFormat = None,
    format: Format = None,
    encoding: Encoding = UTF_8,
    as_json: AsJson = False,
) -> None:
    """Learn from texts and their labels, measure on held-out ones, and save the model.

    Nothing is saved if a row is bad, unless --skip-bad leaves such rows out.
    """
    from taxonomist import workflow
    from taxonomist.cli.reading import read_labelled
    from taxonomist.datasets.columns import Columns
    from taxonomist.datasets.table_file import TableSource
    from taxonomist.taxonomy import Taxonomy
    from taxonomist.text import TextClassifier

    if model != "auto":
        check_models([model])
    check_cost(C)
    check_share(test_size)
    _check_target(out)
    options: dict[str, Any] = {
        "model": model,
        "C": C,
        "words": (1, words),
        "characters": _range(characters),
        "weights": _numbers(weights),
        "calibration": None if calibration == "none" else calibration,
        "random_state": seed,
    }
    known = None if taxonomy is None else Taxonomy.read(taxonomy, taxonomy_format)
    columns = Columns(text, label, label_sep=separator, path_sep=path_separator)
    source = TableSource(data, format, encoding)
    labelled = read_labelled(source, columns, known, skip_bad=skip_bad)
    if not as_json:
        print_facts(_read_facts(labelled))
    classifier = TextClassifier(labelled.taxonomy, **options)
    with progress("models") as on_step:
        result = workflow.train(
            classifier, labelled, columns, test_size=test_size, final=final, on_step=on_step
        )
    result.classifier.save(out)
    if as_json:
        print_json(_as_data(out, labelled, result, final))
    else:
        _print_result(out, result, final)


def _check_target(out: Path) -> None:
    """Refuse early what could not be replaced at the end."""
    from taxonomist.errors import ModelFileError

    is_free = not out.exists() or (out.is_dir() and not any(out.iterdir()))
    if not is_free and not (out / "manifest.json").exists():
        raise ModelFileError(
            f"{out} exists and is not a Taxonomist model, so it is not replaced. Give another path."
        )


def _range(given: str | None) -> tuple[int, int] | None:
    """Return the smallest and the largest number of characters."""
    if given is None:
        return None
    least, _, most = given.partition("-")
    try:
        found = int(least), int(most or least)
    except ValueError:
        found = (0, 0)
    if not 1 <= found[0] <= found[1]:
        raise OptionError(f"--characters must be such as 3-5. Got {given!r}.")
    return found


def _numbers(given: str | None) -> list[float] | None:
    """Return the weights of columns."""
    try:
        return None if given is None else [float(part) for part in given.split(",")]
    except ValueError:
        raise OptionError(f"--weights must be numbers such as 3,1. Got {given!r}.") from None


def _read_facts(labelled: Labelled) -> dict[str, Any]:
    """Return what was read."""
    n_labels = sum(map(len, labelled.labels))
    return {
        "items": len(labelled.texts),
        "bad rows": labelled.bad.count,
        "labels per item": n_labels / len(labelled.labels),
        "categories": len({label for labels in labelled.labels for label in labels}),
        "taxonomy": f"{ORIGINS[labelled.origin]}, {labelled.taxonomy.n_nodes:,} nodes, "
        f"height {labelled.taxonomy.height}",
    }


def _print_result(out: Path, result: TrainingResult, final: bool) -> None:
    """Print what was tried, how good the model is, and where it is."""
    classifier = result.classifier
    if classifier.search_:
        typer.echo()
        rows = [(t.model, t.C, round(t.score, 4), round(t.seconds, 2)) for t in classifier.search_]
        print_table(("model", "C", "score", "seconds"), rows, "Tried, the best first")
        print_note(SCORE)
    typer.echo()
    if result.assessment is None:
        print_note("No items were held out, so nothing is known about new ones.")
    else:
        typer.echo(f"Held-out items: {result.assessment}")
        typer.echo()
    part = "all items" if final or result.assessment is None else "the others alone"
    print_note(
        f"Trained on {result.n_train:,} items ({part}) in "
        f"{classifier.training_['seconds']:.1f} s. The model is in {out}."
    )
    if result.assessment is not None and not final:
        print_note("With --final it is trained once more, on all items.")


def _as_data(out: Path, labelled: Labelled, result: TrainingResult, final: bool) -> dict[str, Any]:
    """Return all that is printed as plain data."""
    classifier = result.classifier
    return {
        "model": str(out),
        **labelled.bad.to_dict(),
        "items": len(labelled.texts),
        "train_items": result.n_train,
        "test_items": result.n_test,
        "is_multilabel": classifier.is_multilabel_,
        "taxonomy": {"origin": labelled.origin, "nodes": labelled.taxonomy.n_nodes},
        "search": [dict(trial._asdict()) for trial in classifier.search_],
        "measures": result.measures,
        "final": final,
        "seconds": classifier.training_["seconds"],
    }
