"""The data, tables, figures and claims of CH04."""

from __future__ import annotations

from taxonomist.experiments.contents.lines import line

RESULTS = (
    line(
        "features",
        "Sec. 6.3",
        "synthetic points: weights summed along paths, points closer than ρ rejected",
        "datasets.make_taxonomy_data",
        "unit/datasets/test_synthetic"
        "::test_every_point_belongs_to_its_best_category_by_more_than_the_margin "
        "unit/datasets/test_synthetic::test_categories_of_one_parent_share_its_weights",
        differs="the paper gives neither variances nor the distribution of points",
    ),
    line(
        "features",
        "Sec. 6.4",
        "title and claims of WIPO-alpha, indexed by MindServer, length 1",
        "experiments.work.patents.patent_texts",
        "unit/features/test_tfidf::test_sublinear_weights_follow_the_formula",
        differs="title and abstract of US patents: the text of WIPO-alpha cannot be had",
    ),
    line(
        "figure",
        "2",
        "part of the IPC below section D",
        absent="an illustration of the corpus",
    ),
    line(
        "table",
        "1",
        "flat and hierarchical SVM on synthetic data",
        "experiments.ch04",
        "integration/test_reproduction::test_the_table_without_corpora_has_the_stored_numbers",
        judged=(("table-1", ""),),
    ),
    line(
        "claim",
        "Sec. 6.3",
        "the hierarchical SVM excels on all runs by all measures",
        "experiments.ch04",
        judged=(("table-1", ""),),
    ),
    line(
        "table",
        "2",
        "flat and hierarchical SVM on eight sections",
        "experiments.ch04",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("table-2", ""),),
    ),
    line(
        "claim",
        "Sec. 6.4",
        "lower Δ-loss in all sections",
        "experiments.ch04",
        judged=(("table-2", "The hierarchical SVM has the better Δ-loss"),),
    ),
    line(
        "claim",
        "Sec. 6.4",
        "in most cases higher accuracy, precision and parent accuracy",
        "experiments.ch04",
        judged=tuple(
            ("table-2", f"The hierarchical SVM has the better {name}")
            for name in ("acc", "prec", "pacc")
        ),
    ),
    line(
        "table",
        "3",
        "the same with three documents per category",
        "experiments.ch04",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("table-3", ""),),
    ),
    line(
        "claim",
        "Sec. 6.4",
        "with three documents the hierarchical SVM is better",
        "experiments.ch04",
        judged=(("table-3", "The hierarchical SVM"),),
    ),
    line(
        "claim",
        "Sec. 6.4",
        "gains are larger with few training documents",
        "experiments.ch04",
        judged=(("table-3", "The gain in"),),
    ),
    line(
        "figure",
        "3",
        "accuracy and Δ-loss by C",
        "experiments.ch04",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("figure-3", ""),),
    ),
    line(
        "claim",
        "Sec. 6.4",
        "C = 1 is a good choice",
        "experiments.ch04",
        judged=(("figure-3", "C = 1"),),
    ),
    line(
        "claim",
        "Sec. 6.4",
        "always a lower Δ-loss, for every C",
        "experiments.ch04",
        judged=(("figure-3", "every C"),),
    ),
    line(
        "figure",
        "4",
        "dual objective and active ratio over steps",
        "experiments.work.optimisers.history",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("figure-4", ""),),
    ),
    line(
        "claim",
        "Sec. 6.4",
        "at first nearly every step adds a variable; later growth slows down",
        "experiments.work.optimisers.history",
        judged=(("figure-4", ""),),
    ),
    line(
        "claim",
        "Sec. 6.4",
        "solutions are sparse: usually an active ratio from 0.005 to 0.1",
        "experiments.work.optimisers.active_ratios",
        judged=(("table-2", "active ratio"),),
    ),
    line(
        "claim",
        "Sec. 6.4",
        "the active set makes learning 19 times as fast",
        "experiments.work.optimisers.optimise",
        judged=(("table-solvers", "without"), ("table-solvers", "Without")),
    ),
    line(
        "claim",
        "Sec. 6.4",
        "the active set gives the sparser solution",
        "experiments.work.optimisers.optimise",
        judged=(("table-solvers", "sparser"),),
    ),
)
