"""What CH07 contains; our text of the paper has lost its equation numbers."""

from __future__ import annotations

from taxonomist.experiments.contents.lines import line

LINES = (
    line(
        "model",
        "Sec. 2.1",
        "label sets at the terminal nodes of a DAG; a terminal child for labels at inner nodes",
        "models.HierarchicalRankingSVC",
        "unit/models/test_label_sets::test_dags "
        "unit/models/test_label_sets::test_interior_labels_are_categories",
    ),
    line(
        "equation",
        "Sec. 2.2",
        "joint features of attributes t_v of ancestors; score as a sum over ancestors",
        "models.attributes.class_attributes",
        "unit/models/test_attributes::test_taxonomy_attributes_are_node_weights_at_and_above "
        "equations/test_ch04::test_scores_are_sums_over_the_nodes_at_and_above",
    ),
    line(
        "equation",
        "Sec. 2.2",
        "categories ranked by score",
        "models.HierarchicalRankingSVC.predict_topk",
        "unit/models/test_label_sets::test_rankings_are_those_of_the_scores",
    ),
    line(
        "equation",
        "Sec. 2.3",
        "Δ(Y, Ŷ) with sign-up volumes s_v and costs c⁻, c⁺",
        "metrics.set_loss losses.category_loss",
        "unit/metrics/test_losses::test_set_loss_is_the_formula_of_ch07 "
        "equations/test_ch07::test_training_with_volumes_and_costs_reaches_the_optimum_of_a_qp",
    ),
    line(
        "equation",
        "Sec. 2.3",
        "Δ(y, y′): the symmetric difference of ancestors, the path length in a tree",
        "losses.category_loss",
        "unit/losses/test_categories::test_tree_is_half_the_path_length_on_trees",
    ),
    line(
        "proposition",
        "1",
        "pairs of categories bound the loss of label sets",
        "losses.category_loss",
        "oracle/test_label_set_svm::test_proposition_1_pairs_bound_the_loss_of_label_sets",
    ),
    line(
        "equation",
        "Sec. 2.3",
        "Δ(Y, g): the sum over misordered pairs of a ranking",
        "metrics.misordering_loss",
        "unit/metrics/test_losses::test_misordering_loss_sums_over_the_misordered_pairs "
        "equations/test_ch07"
        "::test_the_sum_over_misordered_pairs_bounds_the_loss_of_the_best_sets",
    ),
    line(
        "model",
        "Sec. 3",
        "multilabel hierarchical SVM",
        "models.HierarchicalRankingSVC",
        "oracle/test_label_set_svm::test_sequential_is_optimal",
    ),
    line(
        "equation",
        "Sec. 3",
        "margin: the lowest of the item's categories less the highest other one",
        "compiled.inspection.smallest_margin",
        "oracle/test_label_set_svm::test_reference_programs_agree",
    ),
    line(
        "equation",
        "Sec. 3",
        "primal: slacks scaled by the loss of the pair; no bias",
        "solvers.sequential.solve",
        "oracle/test_label_set_svm::test_reference_programs_agree",
    ),
    line(
        "equation",
        "Sec. 3",
        "dual, with any kernel of items",
        "solvers.solution.certify",
        "oracle/test_label_set_svm::test_every_solver_is_optimal "
        "oracle/test_label_set_svm::test_a_kernel_with_blocks_that_are_recomputed",
    ),
    line(
        "proposition",
        "2",
        "the mean slack bounds the mean maximal loss",
        "solvers.solution.certify",
        "oracle/test_label_set_svm::test_proposition_2_slacks_of_a_solution_bound_the_maximal_loss "
        "oracle/test_label_set_svm::test_proposition_2_slacks_of_any_weights_bound_the_maximal_loss",
    ),
    line(
        "model",
        "Sec. 3, variant",
        "one slack for each pair of categories, with the box 0 ≤ α ≤ C Δ",
        "models.HierarchicalRankingSVC",
        "oracle/test_label_set_svm::test_sequential_is_optimal "
        "oracle/test_label_set_svm::test_where_cost_is_small_every_pair_is_at_its_bound",
    ),
    line(
        "model",
        "Sec. 3",
        "size predictor: label sets from rankings by least squares",
        "inference.label_sets.SizePredictor",
        "unit/inference/test_size_predictor::test_targets_are_the_best_thresholds "
        "unit/inference/test_size_predictor::test_weights_are_those_of_ridge_regression",
    ),
    line(
        "equation",
        "Sec. 3.1",
        "G, l, u and ψ of an item; optimal exactly where ψ = 0",
        "compiled.inspection.judge",
        "oracle/test_label_set_svm::test_no_violation_means_optimal",
    ),
    line(
        "algorithm",
        "1",
        "column generation: the pair with the largest G, and a QP over selected pairs",
        "solvers.greedy.solve",
        "equations/test_ch07::test_every_round_is_that_of_algorithm_1 "
        "equations/test_ch07::test_algorithm_1_ends_where_no_condition_is_violated",
    ),
    line(
        "model",
        "Sec. 4",
        "hierarchical perceptron",
        "models.HierarchicalPerceptron",
        "oracle/test_minover::test_what_can_be_separated_is_within_the_bound",
    ),
    line(
        "algorithm",
        "2",
        "MinOver: the worst pair of all items, a step as large as its loss",
        "solvers.minover.solve",
        "oracle/test_minover::test_the_steps_are_those_of_the_definition",
    ),
    line(
        "equation",
        "Sec. 4",
        "a step changes the nodes above one of the two categories only",
        "compiled.minover.write_change",
        "oracle/test_minover::test_a_step_changes_the_nodes_above_one_of_the_two_categories_only",
    ),
    line(
        "measure",
        "Sec. 6.1",
        "one-accuracy",
        "metrics.one_accuracy",
        "unit/metrics/test_ranking::test_against_the_worst_order",
    ),
    line(
        "measure",
        "Sec. 6.1",
        "average precision",
        "metrics.average_precision",
        "unit/metrics/test_ranking::test_against_scikit_learn_where_there_are_no_ties",
    ),
    line(
        "measure",
        "Sec. 6.1",
        "ranking loss",
        "metrics.ranking_loss",
        "unit/metrics/test_ranking::test_ranking_loss_against_scikit_learn",
    ),
    line(
        "measure",
        "Sec. 6.1",
        "maximal loss",
        "metrics.maximal_loss",
        "unit/metrics/test_losses::test_maximal_loss_is_the_worst_of_a_misordered_pair",
    ),
    line(
        "measure",
        "Sec. 6.1",
        "parent one-accuracy",
        "metrics.parent_one_accuracy",
        "unit/metrics/test_ranking::test_parent_one_accuracy_is_one_accuracy_one_level_up",
    ),
    line(
        "features",
        "Sec. 6.2",
        "title and claims of WIPO-alpha: word counts, stop words removed, stemmed, length 1",
        "experiments.work.patent_words.counted_patents features.porter_stem",
        "unit/experiments/test_patent_words::test_stems_are_counted_without_stop_words "
        "unit/features/test_porter::test_the_published_vocabulary",
        differs="title and abstract of US patents",
    ),
    line(
        "table",
        "1",
        "flat and hierarchical SVM on eight sections",
        "experiments.ch07",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("table-1", ""), ("table-1-tf-idf", "")),
    ),
    line(
        "claim",
        "Sec. 6.2",
        "lower maximal and ranking loss and higher parent accuracy in every section",
        "experiments.ch07",
        judged=(("table-1", "every section"),),
    ),
    line(
        "claim",
        "Sec. 6.2",
        "mostly higher one-accuracy and average precision",
        "experiments.ch07",
        judged=(("table-1", "mostly"),),
    ),
    line(
        "claim",
        "Sec. 6.2",
        "significant in a paired permutation test over the folds of one section",
        "experiments.ch07",
        judged=(("table-significance", ""),),
    ),
    line(
        "table",
        "2",
        "the same with three documents per category",
        "experiments.ch07",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("table-2", ""),),
    ),
    line(
        "figure",
        "1",
        "accuracy and average precision of flat and hierarchical perceptron",
        "experiments.ch07",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("figure-1", ""),),
    ),
    line(
        "claim",
        "Sec. 6.2",
        "the hierarchical perceptron is better in most cases",
        "experiments.ch07",
        judged=(("figure-1", ""), ("table-perceptron", "hierarchical perceptron")),
    ),
    line(
        "claim",
        "Sec. 6.2",
        "the perceptron is faster than the SVM",
        "experiments.ch07.fit_times",
        judged=(("table-times", ""),),
    ),
    line(
        "claim",
        "Sec. 6.2",
        "and reaches a lower performance",
        "experiments.ch07",
        judged=(("table-perceptron", "The SVM has"),),
    ),
    line(
        "figure",
        "2",
        "flat and hierarchical SVM by number of training documents",
        "experiments.ch07",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("figure-2", ""),),
    ),
    line(
        "claim",
        "Sec. 6.2",
        "the hierarchical SVM is better for every number of documents",
        "experiments.ch07",
        judged=(("figure-2", "every number"),),
    ),
    line(
        "claim",
        "Sec. 6.2",
        "its gain is largest with few documents",
        "experiments.ch07",
        judged=(("figure-2", "gain"),),
    ),
)
