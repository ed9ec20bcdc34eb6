"""``taxonomist demo``: the bundled corpus, a baseline, its report, three documents."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.text import Text
from rich.tree import Tree

from taxonomist import datasets, metrics
from taxonomist.taxonomy.show import node_counts

if TYPE_CHECKING:
    from taxonomist.datasets import Corpus
    from taxonomist.taxonomy import Taxonomy

CORPUS = "arxiv-sample"
MAX_CHILDREN = 4


def run(seed: int) -> None:
    """Show the corpus, train the baseline, and print what it does on held-out documents."""
    console = Console()
    corpus = datasets.load(CORPUS, labels="primary")
    train, test = corpus.train(), corpus.test()
    show_corpus(console, corpus)
    with console.status("Training a flat linear SVM ..."):
        start = perf_counter()
        model = flat_baseline().fit(train.texts, train.y)
        fitted = perf_counter()
        predicted = model.predict(test.texts)
        done = perf_counter()
    console.print(
        f"\nFlat linear SVM on tf-idf: trained on {len(train):,} documents in "
        f"{fitted - start:.1f} s, classified {len(test):,} in {done - fitted:.1f} s.\n",
        highlight=False,
    )
    report = metrics.hierarchical_report(test.y, predicted, corpus.taxonomy)
    console.print(Panel(Text(report.rstrip()), title="Held-out documents", expand=False))
    show_documents(console, test, predicted, seed)


def flat_baseline() -> Any:
    """Return the pipeline that knows nothing of the taxonomy."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    return make_pipeline(TfidfVectorizer(sublinear_tf=True, min_df=2), LinearSVC())


def show_corpus(console: Console, corpus: Corpus) -> None:
    """Print what the corpus is and the top of its taxonomy with counts."""
    taxonomy = corpus.taxonomy
    console.print(Panel(f"{corpus.description}\n[dim]{corpus.licence}[/dim]", title=corpus.name))
    console.print(f"{len(corpus):,} documents; {taxonomy!r}\n", highlight=False)
    console.print(_tree(taxonomy.collapse_chains(), corpus))


def _tree(taxonomy: Taxonomy, corpus: Corpus) -> Tree:
    """Return two levels of the taxonomy as a rich tree."""
    counts = node_counts(taxonomy, corpus.y)

    def title(node: str) -> Text:
        text = Text(taxonomy.name(node), style="bold" if taxonomy.children(node) else "")
        return text.append(f"  {counts[taxonomy.code(node)]:,}", style="dim")

    tree = Tree(Text("all documents", style="bold"))
    for top in taxonomy.roots:
        branch = tree.add(title(top))
        below = sorted(taxonomy.children(top), key=lambda n: -int(counts[taxonomy.code(n)]))
        for node in below[:MAX_CHILDREN]:
            branch.add(title(node))
        if len(below) > MAX_CHILDREN:
            branch.add(Text(f"… {len(below) - MAX_CHILDREN} more", style="dim"))
    return tree


def show_documents(console: Console, test: Corpus, predicted: Any, seed: int) -> None:
    """Print three held-out documents with the path they were filed under."""
    texts = test.texts or []
    chosen = np.random.default_rng(seed).choice(len(test), size=3, replace=False)
    for i in chosen.tolist():
        title, _, abstract = texts[i].partition("\n")
        right = predicted[i] == test.y[i]
        text = Text(f"{' '.join(abstract.split())[:240]} …\n\n", style="dim")
        text.append("filed under  ", style="bold")
        text.append(_path(test.taxonomy, predicted[i]), style="green" if right else "yellow")
        if not right:
            text.append("\nby authors   ", style="bold").append(_path(test.taxonomy, test.y[i]))
        console.print(Panel(text, title=Text(" ".join(title.split())), title_align="left"))


def _path(taxonomy: Taxonomy, node: str) -> str:
    """Return the display names on the way down to a node, each once."""
    names = dict.fromkeys(taxonomy.name(step) for step in taxonomy.paths(node, limit=1)[0])
    return " > ".join(names)
