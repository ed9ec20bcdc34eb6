"""What CH04 contains."""

from __future__ import annotations

from taxonomist.experiments.contents.ch04_results import RESULTS
from taxonomist.experiments.contents.lines import line

LINES = (
    line(
        "model",
        "Sec. 2.1",
        "flat multiclass SVM",
        "models.HierarchicalSVC",
        "oracle/test_joint_svm::test_flat_taxonomy_is_the_multiclass_svm",
    ),
    line(
        "equation",
        "1",
        "linear score of a category",
        "models.HierarchicalSVC.decision_function",
        "unit/models/test_hierarchical_svc::test_coef_sums_node_coef_along_ancestors",
    ),
    line(
        "equation",
        "2",
        "the category with the highest score wins",
        "models.HierarchicalSVC.predict",
        "equations/test_ch04::test_the_winner_takes_all",
    ),
    line(
        "equation",
        "3",
        "margin of an item: its category less the best other one",
        "compiled.inspection.smallest_margin",
        "unit/compiled/test_joint::test_inspect_finds_what_the_definitions_say",
    ),
    line(
        "equation",
        "4",
        "largest margin over weights of length 1 (hard margin, C = ∞)",
        "models.HierarchicalSVC",
        "oracle/test_joint_svm::test_hard_margin",
    ),
    line(
        "equation",
        "5-6",
        "soft margin with one slack per item; its linear constraints",
        "solvers.problem.JointProblem solvers.sequential.solve",
        "oracle/test_joint_svm::test_reference_programs_agree",
    ),
    line(
        "model",
        "Sec. 2.1, footnote",
        "bias terms b_y, which are not penalised",
        "models.HierarchicalSVC solvers.biased.solve",
        "oracle/test_biased_svm::test_biases_are_optimal "
        "oracle/test_biased_svm::test_the_model_has_the_biases_of_the_general_solver",
    ),
    line(
        "proposition",
        "Sec. 2.1, end",
        "with two categories the model is the binary SVM",
        "models.HierarchicalSVC",
        "equations/test_ch04::test_two_categories_are_the_binary_svm",
    ),
    line(
        "equation",
        "7-8",
        "joint features: attributes of the category times features of the item",
        "solvers.weights.weights_from_duals",
        "equations/test_ch04::test_weights_are_sums_of_joint_features",
    ),
    line(
        "equation",
        "9",
        "flat attributes: one per category",
        "models.attributes.class_attributes",
        "unit/models/test_hierarchical_svc::test_flat_attributes_equal_a_flat_taxonomy",
    ),
    line(
        "equation",
        "10-11",
        "score as a sum over attributes; margin constraints with it",
        "compiled.attributes.category_score",
        "equations/test_ch04::test_scores_are_sums_over_attributes",
    ),
    line(
        "equation",
        "12-15",
        "Lagrangian; weights from dual variables; sum of an item's dual variables at most C",
        "solvers.weights.weights_from_duals compiled.duals.unused_cost",
        "equations/test_ch04::test_weights_are_sums_of_joint_features "
        "unit/compiled/test_joint::test_unused_cost",
    ),
    line(
        "equation",
        "16-18",
        "dual problem",
        "solvers.solution.certify",
        "oracle/test_joint_svm::test_reference_programs_agree",
    ),
    line(
        "equation",
        "19",
        "inner products by attributes and any kernel of items",
        "solvers.problem.GramRows",
        "oracle/test_joint_svm::test_linear_gram_equals_features "
        "unit/models/test_hierarchical_svc::test_all_solvers_and_kernels_reach_the_same_optimum",
    ),
    line(
        "model",
        "Sec. 2.4",
        "hierarchical SVM: weights of categories share those of nodes above; trees and DAGs",
        "models.HierarchicalSVC",
        "unit/models/test_hierarchical_svc::test_a_dag "
        "unit/models/test_hierarchical_svc"
        "::test_interior_categories_and_categories_without_documents",
    ),
    line(
        "equation",
        "20",
        "attributes of a taxonomy: v_z for the nodes at and above a category",
        "models.attributes.class_attributes",
        "unit/models/test_attributes::test_taxonomy_attributes_are_node_weights_at_and_above",
    ),
    line(
        "equation",
        "21",
        "score as a sum over the nodes at and above",
        "models.HierarchicalSVC.explain",
        "equations/test_ch04::test_scores_are_sums_over_the_nodes_at_and_above",
    ),
    line(
        "figure",
        "1",
        "example of a taxonomy with 5 categories and 10 nodes",
        absent="an illustration of Eq. 21",
    ),
    line(
        "model",
        "Sec. 2.5",
        "coupled binary problems for label sets",
        "models.CoupledBinarySVC",
        "oracle/test_binary_svm::test_solution_is_optimal",
    ),
    line(
        "equation",
        "22",
        "its objective, with the root's attribute; flat attributes make independent problems",
        "solvers.binary.solve",
        "unit/models/test_root_attribute::test_coupled_problems_with_the_root_are_optimal "
        "oracle/test_binary_svm::test_reference_programs_agree "
        "oracle/test_binary_svm::test_flat_attributes_are_independent_binary_svms",
    ),
    line(
        "equation",
        "23",
        "loss by loads and costs of nodes",
        "losses.category_loss",
        "unit/losses/test_categories::test_weighted_sums_costs_over_differences",
    ),
    line(
        "equation",
        "24",
        "margin violations scaled by the loss",
        "solvers.sequential.solve",
        "oracle/test_joint_svm::test_sequential_is_optimal",
    ),
    line(
        "equation",
        "25",
        "its dual",
        "solvers.solution.certify",
        "oracle/test_joint_svm::test_every_solver_is_optimal",
    ),
    line(
        "proposition",
        "1",
        "the mean slack bounds the training loss",
        "solvers.solution.certify",
        "oracle/test_joint_svm::test_proposition_1_mean_slack_bounds_the_training_loss",
    ),
    line(
        "equation",
        "26-32",
        "conditions of optimality, simplified to F and the slack of an item",
        "compiled.inspection.inspect_item",
        "oracle/test_joint_svm::test_sequential_is_optimal "
        "equations/test_ch04::test_gradients_of_the_dual",
    ),
    line(
        "equation",
        "33",
        "violation ψ of an item",
        "compiled.inspection.judge",
        "unit/compiled/test_joint::test_inspect_finds_what_the_definitions_say",
    ),
    line(
        "proposition",
        "2",
        "optimal exactly where no item has a violation",
        "solvers.solution.certify",
        "oracle/test_joint_svm::test_proposition_2_no_violation_means_optimal "
        "oracle/test_joint_svm::test_proposition_2_optimal_means_no_violation",
    ),
    line(
        "proposition",
        "3",
        "an optimum of selected variables without violation is the full one",
        "solvers.greedy.solve",
        "oracle/test_joint_svm"
        "::test_proposition_3_a_reduced_optimum_without_violation_is_the_full_one",
    ),
    line(
        "algorithm",
        "1, step 8a",
        "variable selection, and a QP over the selected variables of one item",
        "solvers.greedy.solve solvers.interior_point.maximise",
        "unit/solvers/test_greedy::test_a_pass_does_the_steps_of_the_papers "
        "unit/solvers/test_greedy::test_the_interior_point_method_solves_the_qp",
    ),
    line(
        "algorithm",
        "1, step 8b",
        "the same with a QP over all selected variables",
        "solvers.greedy.solve",
        "unit/solvers/test_greedy::test_step_8b_leaves_no_violation_within_selected_variables",
    ),
    line(
        "equation",
        "34",
        "Δ-loss: half the symmetric difference of predecessors",
        "losses.category_loss",
        "unit/losses/test_categories::test_tree_is_half_the_symmetric_difference "
        "unit/losses/test_categories::test_tree_is_half_the_path_length_on_trees",
    ),
    line(
        "equation",
        "35-36",
        "v_z = 1/√depth, so that attributes have length 1",
        "models.attributes.node_weights",
        "unit/models/test_attributes"
        "::test_depth_weights_count_the_nodes_of_the_longest_path_but_the_root",
    ),
    line(
        "measure",
        "Eq. 37",
        "accuracy",
        "metrics.accuracy",
        "unit/metrics/test_single::test_accuracy_counts_equal_labels",
    ),
    line(
        "measure",
        "Eq. 38",
        "precision: mean reciprocal rank, ties against the prediction",
        "metrics.mean_reciprocal_rank",
        "unit/metrics/test_single::test_mean_reciprocal_rank_counts_ties_against_the_prediction",
    ),
    line(
        "measure",
        "Eq. 39",
        "Δ-loss",
        "metrics.taxonomy_loss",
        "unit/metrics/test_single::test_taxonomy_loss_is_half_the_symmetric_difference",
    ),
    line(
        "measure",
        "Eq. 40",
        "parent accuracy",
        "metrics.parent_accuracy",
        "unit/metrics/test_single::test_parent_accuracy_asks_for_a_common_parent",
    ),
    line(
        "measure",
        "Eq. 41",
        "active ratio: share of dual variables above zero",
        "models.HierarchicalSVC",
        "equations/test_ch04::test_active_ratio_is_the_share_of_positive_dual_variables "
        "equations/test_ch04::test_active_ratio_by_hand",
    ),
    *RESULTS,
)
