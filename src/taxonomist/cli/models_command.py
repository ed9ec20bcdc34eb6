"""``taxonomist models``: list the models that can be trained."""

from __future__ import annotations

from taxonomist.cli.output import AsJson, print_json, print_note, print_table


def models(as_json: AsJson = False) -> None:
    """List the models for `train --model` and `compare --models`.

    Shows the class for one category per item, the class for label sets, and whether the model
    has the parameter --C, takes word counts instead of tf-idf, and needs a tree.
    """
    from taxonomist.text.models import DEFAULT_MODEL, MODELS

    rows = [
        {
            "name": name,
            "single_label": choice.single.__name__,
            "label_sets": choice.sets.__name__,
            "has_C": choice.has_cost,
            "takes_counts": choice.counts,
            "needs_tree": choice.needs_tree,
        }
        for name, choice in MODELS.items()
    ]
    if as_json:
        print_json(rows)
        return
    print_table(list(rows[0]), [list(row.values()) for row in rows])
    print_note(
        f"The default of train is '{DEFAULT_MODEL}'. 'train --model auto' tries a few of these and "
        "keeps the best one."
    )
