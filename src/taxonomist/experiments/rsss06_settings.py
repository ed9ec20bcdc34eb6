"""The corpora and the settings of the experiments of RSSS06, in words."""

from __future__ import annotations

from taxonomist.experiments.declarations import Settings

TESTED = Settings(
    tolerance="H-M³: a duality gap of 5 %, at most 12 passes (enzymes 8); SVM and H-SVM: the "
    "conditions of optimality to 0.0001; H-RLS: exact.",
    features="n_u log2 N / N_u by the training items, length 1, no word dropped. RCV1: the counts "
    "n_u are recovered from the corpus's vectors, whose makers had stemmed the words and dropped "
    "stop words. Section D vectors: 100 LSA features, length 1. Enzymes: counts of substrings of "
    "four letters, length 1.",
    splits="RCV1: 2,500 training and 5,000 test stories. Patents: the corpus's three folds. "
    "Section D vectors and enzymes: the corpus's split.",
    draws="one.",
)

SECTION_G = (
    "Patents G: section G of `us-patents-ipc`, real US patents under the IPC (title and abstract), "
    "which stand in for section D of WIPO-alpha, whose text cannot be had: 2,020 patents and 193 "
    "nodes (there 1,730 and 188; section D has 177 patents here), one main group each, three folds."
)
DATA = (
    "RCV1: 2,500 and 5,000 stories of `rcv1-subset` (vectors, no text) with their topics at or "
    "below CCAT, drawn from all stories, others than the paper's; 8.6 % of all stories have more "
    "than one leaf (the paper: about 8 %), 11.4 % more than one path. Below it, the corpus's split "
    f"of stories in CCAT only, of the same sizes. {SECTION_G} Section D vectors: "
    "`wipo-alpha-d-lsa`, WIPO-alpha's own documents (1,352 and 358) as 100 features, made by "
    "others, with 57 groups of main groups. "
    "C = 1 for all; H-M³ to a duality gap of 5 %, 12 passes at the most."
)
PROTEINS = (
    "Enzymes: `enzyme-ec`, 7,700 and 1,755 proteins and 277 nodes; the paper's 236 nodes and its "
    "proteins were never published. Features are counts of substrings of four letters."
)
