"""The report's sections about the quality of predictions and their errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taxonomist.report.html import Html, bar, join, number, percent, table, tag
from taxonomist.report.svg import curve_chart, reliability_chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taxonomist.evaluation.assessment import Assessment
    from taxonomist.evaluation.confusions import Confusion
    from taxonomist.evaluation.learning_curve import LearningCurve
    from taxonomist.evaluation.significance import Interval
    from taxonomist.taxonomy import Taxonomy

N_SUBTREES = 50
"""Maximum number of topmost categories to list; the tree shows all of them."""

N_CONFUSIONS = 12
"""Number of confusions to show at first; the others can be unfolded."""

N_DISTANCES = 10
"""Number of distances to list separately."""

TITLES = {
    "accuracy": ("Accuracy", "items in exactly the right category"),
    "subset_accuracy": ("Subset accuracy", "items with exactly the right labels"),
    "hierarchical_f1": ("Hierarchical F1", "labels and their ancestors, pooled over items"),
    "macro_f1": ("Macro F1", "mean over all nodes, each with the same weight"),
    "category_micro_f1": ("Category micro F1", "most specific labels, pooled over items"),
    "category_macro_f1": ("Category macro F1", "mean over the most specific labels"),
    "taxonomy_loss": ("Taxonomy loss", "half the path from truth to prediction; lower is better"),
    "symmetric_difference_loss": (
        "Symmetric difference",
        "nodes missed or wrongly predicted per item; lower is better",
    ),
}
"""Titles and explanations of the headline measures."""


def headline(assessment: Assessment) -> Html:
    """Return a sentence and a tile for each headline measure."""
    n_right = assessment.distances.get(0, 0)
    n = assessment.n_items
    what = "all the right labels" if assessment.is_multilabel else "the right category"
    lead = tag(
        "p",
        f"Of {n:,} items, ",
        tag("b", f"{n_right:,} ({percent(n_right / n)})"),
        f" got exactly {what}.",
        class_="lead",
    )
    tiles = [_tile(name, interval) for name, interval in assessment.measures.items()]
    note = "Ranges are 95 % bootstrap intervals over items."
    return join([lead, tag("div", *tiles, class_="tiles"), tag("p", note, class_="note")])


def _tile(name: str, interval: Interval) -> Html:
    title, meaning = TITLES.get(name, (name, ""))
    is_share = not name.endswith("_loss")
    return tag(
        "div",
        tag("h3", title),
        tag("p", number(interval.estimate), class_="value"),
        bar(interval.estimate, interval.low, interval.high) if is_share else "",
        tag("p", f"{number(interval.low)} to {number(interval.high)}", class_="ends"),
        tag("p", meaning, class_="note"),
        class_="tile",
    )


def levels(assessment: Assessment) -> Html:
    """Return a table with a row per level."""
    rows = [
        (
            f"Level {each.level}",
            number(each.f1.estimate),
            bar(each.f1.estimate, each.f1.low, each.f1.high),
            f"{number(each.f1.low)} to {number(each.f1.high)}",
            number(each.precision),
            number(each.recall),
            f"{each.n_nodes:,}",
            f"{each.support:,}",
        )
        for each in assessment.levels
    ]
    head = ("Level", "F1", "", "95 % interval", "precision", "recall", "nodes", "labels")
    caption = "Pooled over the nodes of each level; level 1 is below the root."
    return table(caption, head, rows, class_="scores")


def subtrees(assessment: Assessment, taxonomy: Taxonomy) -> Html:
    """Return a table with a row for each of the largest topmost categories."""
    largest = sorted(assessment.subtrees, key=lambda each: -each.support)[:N_SUBTREES]
    rows = [
        (
            node_title(taxonomy, each.node),
            number(each.f1),
            bar(each.f1),
            number(each.precision),
            number(each.recall),
            number(each.pooled_f1),
            percent(each.accuracy),
            f"{each.n_nodes:,}",
            f"{each.support:,}",
        )
        for each in largest
    ]
    caption = (
        "Topmost categories: how many of their items are found, and how well they are classified "
        "below."
    )
    if len(largest) < len(assessment.subtrees):
        caption += f" The {len(largest)} largest of {len(assessment.subtrees):,}."
    head = ("Category", "F1", "", "precision", "recall", "F1 of descendants", "exactly right")
    return table(caption, [*head, "nodes", "items"], rows, class_="scores")


def distances(assessment: Assessment) -> Html:
    """Return a table of the distances between predictions and true labels."""
    known = sorted(assessment.distances.items())
    shown, rest = known[:N_DISTANCES], known[N_DISTANCES:]
    counts = [(str(distance), count) for distance, count in shown]
    if rest:
        counts.append((f"{rest[0][0]} or more", sum(count for _, count in rest)))
    rows = [
        (title, f"{count:,}", percent(count / assessment.n_items), bar(count / assessment.n_items))
        for title, count in counts
    ]
    caption = (
        "Number of nodes, including ancestors, that differ between truth and prediction; 0 is "
        "exactly right."
    )
    return table(caption, ("Nodes that differ", "items", "share", ""), rows)


def confusions(assessment: Assessment, taxonomy: Taxonomy) -> Html:
    """Return a table of the most frequent confusions with examples."""
    if not assessment.confusions:
        return tag("p", "No confusions.")
    rows = [_confusion(each, taxonomy) for each in assessment.confusions]
    shown, rest = (join(part) for part in (rows[:N_CONFUSIONS], rows[N_CONFUSIONS:]))
    what = "Nodes of one level" if assessment.is_multilabel else "Categories"
    caption = f"{what} that were missed, and what was predicted instead, most frequent first."
    head = ("Missed", "predicted instead", "items", "share of its items")
    box = Html('<input id="confused" type="search" placeholder="a category">')
    search = tag("div", tag("label", "Find confusions of ", box), class_="controls")
    pairs = tag("ul", id="pairs", class_="matches")
    first = join([search, pairs, table(caption, head, [shown], class_="confusions")])
    if not rest:
        return first
    more = table("The next most frequent.", head, [rest], class_="confusions")
    title = tag("summary", f"{len(rows) - N_CONFUSIONS} more")
    return join([first, tag("details", title, more, class_="more")])


def _confusion(confusion: Confusion, taxonomy: Taxonomy) -> Html:
    """Return a row with the pair, and a row with example texts if there are any."""
    pair = tag(
        "tr",
        tag("th", node_title(taxonomy, confusion.true, above=True), scope="row"),
        tag("td", node_title(taxonomy, confusion.predicted, above=True)),
        tag("td", f"{confusion.count:,}"),
        tag("td", percent(confusion.share)),
    )
    quotes = [tag("blockquote", text or "(no text)") for text in confusion.texts]
    if not quotes:
        return pair
    title = "1 example" if len(quotes) == 1 else f"{len(quotes)} examples"
    examples = tag("details", tag("summary", title), *quotes, class_="examples")
    return join([pair, tag("tr", tag("td", examples, colspan=4), class_="below")])


def reliability(assessment: Assessment) -> Html:
    """Return a diagram per level, with an explanation."""
    note = tag(
        "p",
        "Probability of the most probable node of a level for each item. On the diagonal, "
        "probabilities are accurate; below it, the model is overconfident. The area of a dot is "
        "proportional to its number of items.",
        class_="note",
    )
    charts = [reliability_chart(level) for level in assessment.reliability]
    return join([note, tag("div", *charts, class_="charts")])


def learning(curves: Mapping[str, LearningCurve]) -> Html:
    """Return a chart per measure, and a table of the numbers."""
    first = next(iter(curves.values()))
    names = [measure.name for measure in first.measures]
    note = "Bands are one standard deviation over repeats."
    charts = [curve_chart(curves, name) for name in names]
    rows = [
        (f"{model}, {size:,}", *(number(float(curve.mean[name][at])) for name in names))
        for model, curve in curves.items()
        for at, size in enumerate(curve.sizes)
    ]
    numbers = table("Means over repeats.", ["Model, items per category", *names], rows)
    more = tag("details", tag("summary", "The numbers"), numbers)
    return join([tag("p", note, class_="note"), tag("div", *charts, class_="charts"), more])


def telling_words(
    words: Mapping[str, Sequence[tuple[str, float]]], assessment: Assessment, taxonomy: Taxonomy
) -> Html:
    """Return a table of the most telling words of the topmost categories."""
    largest = sorted(assessment.subtrees, key=lambda each: -each.support)[:N_SUBTREES]
    rows = [
        (node_title(taxonomy, each.node), _chips(words[each.node]))
        for each in largest
        if each.node in words
    ]
    caption = "Most telling words of the topmost categories; the tree has those of all nodes."
    return table(caption, ("Category", "words"), rows, class_="words")


def _chips(words: Sequence[tuple[str, float]]) -> Html:
    """Return each word as an element whose tooltip is its weight."""
    return join(
        tag("span", word, class_="chip", title=f"{float(weight):.3g}") for word, weight in words
    )


def node_title(taxonomy: Taxonomy, node: str, *, above: bool = False) -> Html:
    """Return a node's name and id, and with ``above`` also the names of its ancestors."""
    name = taxonomy.name(node)
    parts: list[object] = [tag("span", name, class_="name")]
    if name != node:
        parts += [" ", tag("span", node, class_="id")]
    path = taxonomy.paths(node, limit=1)[0][:-1] if above else ()
    if path:
        parts.append(tag("span", " › ".join(map(taxonomy.name, path)), class_="path"))
    return join(parts)
