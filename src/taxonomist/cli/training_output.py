"""What ``taxonomist train`` prints about the rows it read and the model it trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.cli.output import print_json, print_note, print_table, print_text, rounded

if TYPE_CHECKING:
    from pathlib import Path

    from taxonomist.datasets.bad_rows import BadRows
    from taxonomist.text import TextClassifier
    from taxonomist.workflow import Labelled, TrainingResult

__all__ = ["print_result", "row_facts"]

ORIGINS = {
    "given": "as given",
    "levels": "built from the levels in the columns",
    "paths": "built from the paths in the labels",
    "codes": "built from the prefixes of the codes",
    "labels": "none given: the labels form a single level",
}
UNMEASURED = (
    "No model could be measured within the budget, so the one that is expected to be fastest was "
    "trained. Pass a larger --budget, or choose a model with --model."
)


def row_facts(labelled: Labelled) -> dict[str, object]:
    """Return facts about the rows that were read."""
    n_labels = sum(map(len, labelled.labels))
    n_empty = sum(not labels for labels in labelled.labels)
    return {
        "items": len(labelled.texts),
        "bad rows": labelled.bad.count,
        "rows without label": labelled.bad.n_unlabelled,
        **({"items with no categories": n_empty} if n_empty else {}),
        "labels per item": n_labels / len(labelled.labels),
        "categories": len({label for labels in labelled.labels for label in labels}),
        "taxonomy": f"{ORIGINS[labelled.origin]}, {labelled.taxonomy.n_nodes:,} nodes, "
        f"height {labelled.taxonomy.height}",
    }


def print_result(
    out: Path, bad: BadRows, origin: str, result: TrainingResult, *, final: bool, as_json: bool
) -> None:
    """Print the result of a training, as text or as JSON."""
    if as_json:
        print_json(_as_data(out, bad, origin, result, final))
    else:
        _print_text(out, bad, result, final)


def _print_text(out: Path, bad: BadRows, result: TrainingResult, final: bool) -> None:
    """Print the models tried, the quality of the best one, and where it was saved."""
    from taxonomist.workflow.training import findings

    classifier = result.classifier
    if classifier.search_:
        print_text()
        rows = [
            (trial.model, trial.C, rounded(trial.score, 4), rounded(trial.seconds, 2), trial.note)
            for trial in classifier.search_
        ]
        heads = ("model", "C", "score", "seconds", "left out")
        print_table(heads, rows, "Models tried, best first")
        print_note(_about_scores(classifier))
        if classifier.search_[0].score is None:
            print_note(UNMEASURED)
    print_text()
    if result.assessment is None:
        print_note("No items were held out, so the model's quality on new items is unknown.")
    else:
        print_text(f"Held-out items: {result.assessment}")
        print_text()
    for finding in findings(classifier).values():
        print_note(str(finding["said"]))
    print_text(_row_sum(bad, result, final))
    part = "all items" if final or result.assessment is None else "without the held-out ones"
    print_note(
        f"Trained on {result.n_train:,} items ({part}) in "
        f"{classifier.training_['seconds']:.1f} s. The model is in {out}."
    )


def _row_sum(bad: BadRows, result: TrainingResult, final: bool) -> str:
    """Return how the rows were used; the numbers add up to the rows that were read."""
    first = f", {result.n_test:,} of them held out first" if final and result.n_test else ""
    parts = {
        f"used{first}": result.n_train,
        "held out": 0 if final else result.n_test,
        "dropped as duplicates of used ones": result.n_dropped,
        "without label": bad.n_unlabelled,
        "bad": bad.count,
    }
    terms = " + ".join(f"{count:,} {what}" for what, count in parts.items() if count)
    return f"Rows: {bad.n_rows:,} read = {terms}."


def _as_data(
    out: Path, bad: BadRows, origin: str, result: TrainingResult, final: bool
) -> dict[str, object]:
    """Return the result of a training as plain data."""
    from taxonomist.workflow.training import findings

    classifier = result.classifier
    return {
        "model": str(out),
        **bad.to_dict(),
        "items": bad.n_rows - bad.count - bad.n_unlabelled,
        "train_items": result.n_train,
        "test_items": result.n_test,
        "dropped_items": result.n_dropped,
        "is_multilabel": classifier.is_multilabel_,
        "taxonomy": {"origin": origin, "nodes": classifier.taxonomy_.n_nodes},
        "search": [dict(trial._asdict()) for trial in classifier.search_],
        "measure": classifier.measure,
        "measures": result.measures,
        "final": final,
        "seconds": classifier.training_["seconds"],
        **findings(classifier),
    }


def _about_scores(classifier: TextClassifier) -> str:
    """Return what the scores of models are, and on how many items they were measured."""
    from taxonomist.text.measure import in_words

    n_items, n_used = (classifier.training_.get(name, 0) for name in ("items", "search_items"))
    which = in_words(classifier.measure)
    some = f"a sample of {n_used:,} of {n_items:,} items that keeps rare categories"
    items = f"all {n_items:,} training items" if n_used >= n_items else some
    return f"Score: {which}, cross-validated on {items}; higher is better."
