"""What RSSS06 contains."""

from __future__ import annotations

from taxonomist.experiments.contents.lines import line
from taxonomist.experiments.contents.rsss06_results import RESULTS

_MODEL = "unit/models/test_max_margin_markov_classifier"

LINES = (
    line("figure", "1", "parts of the IPC and of the EC numbers", absent="an illustration"),
    line(
        "model",
        "Sec. 2",
        "H-M³: a Markov tree over the hierarchy, label sets as unions of partial paths",
        "models.MaxMarginMarkovClassifier",
        f"{_MODEL}::test_scores_are_those_of_the_labellings "
        f"{_MODEL}::test_items_may_stop_at_interior_nodes_and_have_no_label",
    ),
    line(
        "equation",
        "Sec. 2",
        "P(y|x) as an exponential family on edges, with its partition function",
        "inference.labellings.Labellings",
        "oracle/test_labellings::test_marginals_and_partition",
    ),
    line(
        "equation",
        "Sec. 2.1",
        "zero-one loss and symmetric difference loss",
        "losses.labelling_loss",
        "unit/losses/test_labellings::test_plain_losses_by_enumeration",
    ),
    line(
        "equation",
        "Sec. 2.1",
        "path length between nodes, for one category each",
        "losses.category_loss",
        "unit/losses/test_categories::test_tree_is_half_the_path_length_on_trees",
    ),
    line(
        "equation",
        "Sec. 2.1",
        "l_H and l_H~: the first mistake on a path, or one below a right parent",
        "losses.labelling_loss metrics.hierarchical_loss",
        "unit/losses/test_labellings::test_hierarchical_losses_by_enumeration "
        "unit/metrics/test_labelling::test_hierarchical_loss",
    ),
    line(
        "equation",
        "Sec. 2.1",
        "scalings of nodes: uniform, by siblings, by subtrees",
        "taxonomy.differences.node_scaling",
        "unit/taxonomy/test_differences::test_scalings_follow_the_paper",
    ),
    line(
        "equation",
        "Sec. 2.1",
        "losses as sums over edges, shared by the edges at a node",
        "losses.labelling_loss",
        "unit/losses/test_labellings::test_edges_and_root_sum_to_the_loss "
        "oracle/test_markov_tree::test_losses_of_edges_are_split_among_the_edges_at_a_node",
    ),
    line(
        "features",
        "Sec. 2.2",
        "bag of words; TFIDF n_u log2 N/N_u",
        "features.TfidfFeatures features.TfidfWeights",
        "unit/features/test_tfidf::test_weights_follow_the_formula "
        "unit/features/test_tfidf::test_words_are_counted_and_weighted",
    ),
    line(
        "features",
        "Sec. 2.2",
        "substring spectrum, one length or a range of lengths",
        "features.SpectrumFeatures",
        "unit/features/test_spectrum::test_contiguous_counts_are_those_of_scikit_learn "
        "unit/features/test_spectrum::test_forms_of_lengths",
    ),
    line(
        "features",
        "Sec. 2.2",
        "gapped substrings with weights of gaps",
        "kernels.GappedKernel features.SpectrumFeatures",
        "unit/kernels/test_gapped::test_values_are_sums_over_common_subsequences "
        "unit/kernels/test_gapped::test_it_is_the_product_of_the_features",
    ),
    line(
        "features",
        "Sec. 2.2",
        "words or syllables as letters",
        "features.SpectrumFeatures features.syllables",
        "unit/features/test_letters::test_characters_words_and_functions "
        "unit/features/test_syllables::test_syllables_are_a_unit",
    ),
    line(
        "features",
        "Sec. 2.3",
        "global and local features",
        "models.MaxMarginMarkovClassifier",
        f"{_MODEL}::test_local_features",
    ),
    line(
        "equation",
        "Sec. 2.3",
        "orthogonal features: a block for each edge and labelling",
        "solvers.markov_problem.node_map",
        "oracle/test_markov_tree::test_node_map_sums_to_the_score",
    ),
    line(
        "equation",
        "Sec. 2.3",
        "additive features",
        "solvers.additive.solve",
        "oracle/test_additive::test_additive_features_are_optimal",
    ),
    line(
        "equation",
        "Sec. 2.4",
        "maximum likelihood",
        absent="the paper names it as the alternative that it does not take",
    ),
    line(
        "equation",
        "Sec. 2.4",
        "hard margin",
        "solvers.markov.solve",
        "oracle/test_markov_tree::test_a_hard_margin_is_optimal_and_kept",
    ),
    line(
        "equation",
        "1",
        "soft margin scaled by the loss",
        "solvers.markov.solve",
        "oracle/test_markov_tree::test_every_loss_is_optimal",
    ),
    line(
        "equation",
        "2",
        "its dual",
        "solvers.markov.bounds",
        "oracle/test_markov_tree::test_every_loss_is_optimal",
    ),
    line(
        "algorithm",
        "Sec. 2.4",
        "dual working sets: the worst violator is added",
        "solvers.markov.solve",
        "oracle/test_markov_tree::test_worst_labellings",
    ),
    line(
        "equation",
        "3-4",
        "the feasible set is a product over items",
        "solvers.markov.solve",
        "oracle/test_subspace::test_marginals_stay_in_their_polytope",
    ),
    line(
        "equation",
        "5-7",
        "marginals of edges; box and consistency constraints",
        "solvers.marginal_polytope.MarginalPolytope",
        "oracle/test_subspace::test_marginals_stay_in_their_polytope "
        "unit/solvers/test_subspace::test_constraints_of_the_polytope",
    ),
    line(
        "equation",
        "8",
        "marginalised dual problem",
        "solvers.subspace.solve",
        "oracle/test_subspace::test_every_loss_is_optimal "
        "oracle/test_subspace::test_certificates_and_weights_follow_from_marginals",
        differs="edges below the root agree on the root too, as equation 7 wants",
    ),
    line(
        "algorithm",
        "1",
        "passes over a working set of items until the duality gap is small",
        "solvers.subspace.solve",
        "unit/solvers/test_subspace::test_a_pass_visits_the_working_set_as_often_as_drawn "
        f"{_MODEL}::test_the_papers_solver_reaches_the_same_optimum",
    ),
    line(
        "equation",
        "9",
        "first-order condition of the marginals of an item",
        "compiled.subspace.aim",
        "equations/test_rsss06::test_first_order_condition_of_the_marginals_of_an_item",
    ),
    line(
        "algorithm",
        "2",
        "conditional gradient steps in the subspace of an item",
        "compiled.subspace.ascend",
        "unit/compiled/test_subspace::test_gradient_and_change_follow_a_step "
        "unit/compiled/test_subspace::test_limits_and_the_optimum_of_an_item",
    ),
    line(
        "equation",
        "10",
        "length of a step",
        "compiled.subspace.climb",
        "unit/compiled/test_subspace::test_a_step_ends_where_the_dual_is_largest",
    ),
    line(
        "algorithm",
        "Sec. 3.2",
        "working sets by saturation, or drawn by duality gaps",
        "solvers.subspace.choose_by_state solvers.subspace.draw_by_gap",
        "unit/solvers/test_subspace::test_items_are_chosen_by_their_states "
        "unit/solvers/test_subspace::test_draws_follow_the_gaps",
        differs="Δ_i has a minus sign, as in the duality gap; items without slack have no priority",
    ),
    line(
        "equation",
        "11",
        "update direction by a linear program",
        "solvers.marginal_polytope.MarginalPolytope",
        "oracle/test_subspace::test_linear_programs_reach_the_same_value",
    ),
    line(
        "equation",
        "12",
        "update direction as a labelling, by dynamic programming",
        "compiled.subspace.aim compiled.subspace.find_best",
        "oracle/test_subspace::test_dynamic_programming_finds_the_best_vertex",
        differs="0 where no labelling has a positive sum, which is as good as the truth's vertex",
    ),
    line(
        "equation",
        "13",
        "the best labelling in linear time (recurrences of section 3.4)",
        "compiled.labellings.best_labellings",
        "oracle/test_markov_tree::test_worst_labellings "
        f"{_MODEL}::test_unrestricted_labellings_are_the_best_of_all",
        differs="recurrences sum g_e instead of g_e μ_e",
    ),
    line(
        "algorithm",
        "Sec. 3.5",
        "stationary points in linear time",
        "compiled.subspace.measure",
        "unit/compiled/test_subspace::test_begin_writes_losses_and_gradients_of_edges",
    ),
    line(
        "model",
        "Sec. 4",
        "slack of any sign, or one slack for each edge",
        "solvers.markov_problem.labelled_tree",
        "oracle/test_subspace::test_every_loss_is_optimal "
        "unit/solvers/test_subspace::test_signed_slacks_need_dynamic_programming",
    ),
    line(
        "model",
        "Sec. 4",
        "features of partial paths instead of edges",
        "models.MaxMarginMarkovClassifier",
        "oracle/test_markov_tree::test_every_loss_is_optimal "
        "oracle/test_subspace::test_partial_paths_are_optimal",
        differs="the marginal of a path counts longer ones too; each form follows from the other",
    ),
    line(
        "model",
        "Sec. 2.5, 4",
        "graphs that are no trees: junction trees, or approximate inference",
        "solvers.markov_graph inference.junction_tree solvers.subspace",
        "oracle/test_markov_graph::test_edges_to_all_parents_are_optimal "
        "oracle/test_markov_graph::test_conditional_gradients_climb_unmodified "
        "oracle/test_markov_graph::test_a_relaxation_bounds_the_gap "
        "oracle/test_junction_tree::test_best_sums_of_every_state "
        "unit/models/test_markov_dags::test_each_parent_has_an_edge",
    ),
    line(
        "model",
        "Sec. 5",
        "SVM for each node, made consistent from the root down",
        "models.NodeSVC solvers.free_bias",
        "unit/models/test_per_node::test_node_svc_is_one_vs_rest_and_the_rule "
        "oracle/test_free_bias::test_models_as_in_the_paper_are_those_of_libsvm",
    ),
    line(
        "model",
        "Sec. 5",
        "H-SVM: trained on the items of the parent",
        "models.TopDownSVC",
        "unit/models/test_per_node::test_top_down_svc_is_a_loop_over_nodes",
    ),
    line(
        "model",
        "Sec. 5",
        "H-RLS: least squares at each node",
        "models.HierarchicalRLS",
        "oracle/test_hierarchical_rls::test_margins_are_those_of_an_inverse_per_item",
    ),
    line(
        "model",
        "Sec. 5",
        "prediction: the most probable consistent labelling",
        "models.MaxMarginMarkovClassifier.predict",
        f"{_MODEL}::test_predictions_are_closed_whatever_the_data "
        "oracle/test_labellings::test_best_labelling_with_enough_labels",
    ),
    line(
        "measure",
        "Sec. 5",
        "precision, recall and F1 over all microlabels, and by level",
        "metrics.precision_recall_f1 metrics.precision_recall_f1_per_level",
        "unit/experiments/test_rsss06"
        "::test_values_of_microlabels_are_those_of_metrics_where_the_root_is_a_label "
        "unit/metrics/test_sets::test_levels_against_sets_of_pairs",
    ),
    *RESULTS,
)
