"""``taxonomist explain``: the words that decide a prediction, level by level."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from taxonomist.cli.checks import OptionError, check_explains, check_text
from taxonomist.cli.late_import import import_scikit_learn
from taxonomist.cli.options import ModelFolder
from taxonomist.cli.output import AsJson, print_json, print_note, print_text
from taxonomist.cli.places import check_file

Page = Annotated[
    Path | None,
    typer.Option("--html", help="Write an HTML page with the words highlighted to this file."),
]

HEAD = (
    '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width">\n<title>Why</title>\n'
    "<style>:root { color-scheme: light dark } body { font: 16px/1.5 system-ui, sans-serif; "
    "max-width: 50rem; margin: 2rem auto; padding: 0 1rem } td { padding: 0.2rem 0.8rem "
    "0.2rem 0; vertical-align: top }</style>\n"
)


def explain(
    model: ModelFolder,
    text: Annotated[
        str, typer.Option("--text", help="Text to classify; '-' reads standard input.")
    ],
    words: Annotated[int, typer.Option(min=1, help="Number of words to show at each level.")] = 10,
    category: Annotated[
        str | None, typer.Option(help="Category to explain; by default, the predicted one.")
    ] = None,
    html: Page = None,
    as_json: AsJson = False,
) -> None:
    """Show the words in a text for and against a category, level by level."""
    import sys

    import_scikit_learn()
    from taxonomist.cli.writers import open_output
    from taxonomist.text import TextClassifier
    from taxonomist.workflow.model_columns import as_item

    check_file(html, [model], "--html")
    classifier = TextClassifier.load(model)
    check_explains(classifier)
    try:
        whole = sys.stdin.read() if text == "-" else text
    except UnicodeDecodeError as error:
        raise OptionError(
            f"--text -: standard input is not valid {error.encoding} ({error.reason})."
        ) from error
    check_text(whole)
    if category is not None:
        category = classifier.taxonomy_.resolve(category)
    found = classifier.explain(as_item(classifier, whole), n=words, category=category)
    if html is not None:
        with open_output(html) as stream:
            stream.write(f"{HEAD}{found.to_html()}\n</html>\n")
        print_note(f"The page is in {html}.")
    if as_json:
        print_json(found.to_dict())
    elif html is None:
        print_text(str(found))
