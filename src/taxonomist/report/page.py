"""One self-contained HTML page about a model's predictions."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taxonomist import __version__
from taxonomist._files import move_into_place
from taxonomist.evaluation.learning_curve import LearningCurve
from taxonomist.report import background, sections
from taxonomist.report.html import Html, join, tag
from taxonomist.report.tree import tree_section

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from taxonomist.evaluation.assessment import Assessment
    from taxonomist.evaluation.comparison import Comparison
    from taxonomist.taxonomy import Taxonomy

# The page must not send any requests, whatever texts it shows.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def write_report(
    path: str | os.PathLike[str],
    assessment: Assessment,
    *,
    title: str,
    taxonomy: Taxonomy,
    model_facts: Mapping[str, object] | None = None,
    learning_curve: LearningCurve | Mapping[str, LearningCurve] | None = None,
    flat: Comparison | None = None,
    words: Mapping[str, Sequence[tuple[str, float]]] | None = None,
) -> Path:
    """Write an HTML report that works offline, in print and in dark mode.

    The file is written atomically: under a temporary name, and then renamed.

    Parameters
    ----------
    path
        File to write; an existing file is replaced.
    assessment
        The result of ``taxonomist.evaluation.assess``.
    title
        The title of the page.
    taxonomy
        The taxonomy of the assessed labels.
    model_facts
        Facts about the model, by name. ``"search"`` holds a mapping for each candidate of the model
        search; a true ``"chosen"`` marks the chosen one.
    learning_curve
        A learning curve, or several by model.
    flat
        A comparison with a baseline, as returned by ``taxonomist.evaluation.compare_flat``.
    words
        Most telling words of some nodes with their weights, best first.

    Returns
    -------
    Path
        The file.
    """
    curves = {"model": learning_curve} if isinstance(learning_curve, LearningCurve) else None
    if isinstance(learning_curve, Mapping):
        curves = dict(learning_curve)
    parts = [
        *_about_predictions(assessment, taxonomy, words),
        *_about_model(model_facts or {}, curves, flat),
    ]
    target = Path(path)
    _replace(target, _document(title, assessment, taxonomy, parts))
    return target


def _about_predictions(
    assessment: Assessment,
    taxonomy: Taxonomy,
    words: Mapping[str, Sequence[tuple[str, float]]] | None,
) -> Iterator[tuple[str, Html]]:
    """Yield the titles and contents of the sections about predictions."""
    yield "Headline", sections.headline(assessment)
    yield "By level", sections.levels(assessment)
    if assessment.subtrees:
        yield "By subtree", sections.subtrees(assessment, taxonomy)
    yield "How far off", sections.distances(assessment)
    yield "Taxonomy", tree_section(assessment, taxonomy, words)
    yield "Confusions", sections.confusions(assessment, taxonomy)
    if assessment.reliability:
        yield "Reliability", sections.reliability(assessment)
    if words:
        yield "Telling words", sections.telling_words(words, assessment, taxonomy)


def _about_model(
    facts: Mapping[str, Any],
    curves: Mapping[str, LearningCurve] | None,
    flat: Comparison | None,
) -> Iterator[tuple[str, Html]]:
    """Yield the titles and contents of the sections about the model."""
    if flat is not None:
        yield "Against the flat twin", background.flat_comparison(flat)
    if curves:
        yield "Learning curve", sections.learning(curves)
    if set(facts) - {background.SEARCH}:
        yield "Model", background.facts(facts)
    if facts.get(background.SEARCH):
        yield "What was tried", background.search(facts[background.SEARCH])


def _document(
    title: str, assessment: Assessment, taxonomy: Taxonomy, parts: list[tuple[str, Html]]
) -> str:
    names = {name: name.lower().replace(" ", "-") for name, _ in parts}
    contents = [tag("a", name, href=f"#{names[name]}") for name, _ in parts]
    kind = "label sets" if assessment.is_multilabel else "one category each"
    subtitle = f"{assessment.n_items:,} items, {kind} · {taxonomy.n_nodes:,} nodes"
    body = join(
        [
            tag(
                "header",
                tag("h1", title),
                tag("p", subtitle, class_="note"),
                tag("nav", *contents, aria_label="Sections"),
            ),
            tag(
                "main",
                *(
                    tag("section", tag("h2", name), content, id=names[name])
                    for name, content in parts
                ),
            ),
            tag("footer", f"Made by Taxonomist {__version__}."),
            Html(f"<script>{_asset('inflate.js')}{_asset('page.js')}</script>"),
        ]
    )
    head = (
        '<meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"{tag('title', title)}<style>{_asset('tokens.css')}{_asset('page.css')}</style>"
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _asset(name: str) -> str:
    """Return the text of a file in this package."""
    return (files("taxonomist.report") / name).read_text(encoding="utf-8")


def _replace(target: Path, text: str) -> None:
    """Write a file atomically."""
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        # Texts can hold lone surrogates, which no encoding can represent.
        draft.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        move_into_place(draft, target)
    finally:
        draft.unlink(missing_ok=True)
