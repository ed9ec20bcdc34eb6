"""What TCPH01 contains."""

from __future__ import annotations

from taxonomist.experiments.contents.lines import line

LINES = (
    line(
        "equation",
        "Sec. 1",
        "P(w|c) of hierarchical shrinkage: estimates of the nodes above, without the class itself",
        "models.HierarchicalShrinkage",
        "unit/models/test_count_models::test_taking_out_is_what_the_paper_says",
    ),
    line(
        "model",
        "Sec. 2.2",
        "hierarchical mixture (HM): words come from the nodes on the path to the root",
        "models.HierarchicalMixture",
        "unit/models/test_count_models::test_probabilities_are_distributions_and_mixed_along_paths",
    ),
    line(
        "equation",
        "1",
        "P(w|c) as a mixture along the path",
        "inference.word_scores.WordScores",
        "unit/models/test_count_models::test_probabilities_are_distributions_and_mixed_along_paths",
    ),
    line(
        "equation",
        "2-4",
        "likelihood of a document and of the collection",
        "solvers.mixture.solve",
        "unit/models/test_count_models"
        "::test_posteriors_are_priors_times_products_of_word_probabilities "
        "unit/solvers/test_mixture::test_steps_are_those_of_loops_over_words",
    ),
    line(
        "equation",
        "5",
        "E-step: responsibilities of nodes for words",
        "compiled.mixture.mix_words compiled.mixture.move_words",
        "unit/solvers/test_mixture::test_steps_are_those_of_loops_over_words",
    ),
    line(
        "equation",
        "6",
        "M-step of P(w|v)",
        "compiled.mixture.move_words",
        "unit/solvers/test_mixture::test_two_words_and_two_classes_by_hand",
    ),
    line(
        "equation",
        "7",
        "M-step of P(v|c) on held-out counts",
        "solvers.path_weights.estimate solvers.mixture.solve",
        "unit/solvers/test_path_weights::test_the_first_step_is_the_papers "
        "unit/solvers/test_mixture::test_weights_are_re_estimated_in_each_step_from_left_out_items "
        "oracle/test_path_weights::test_weights_are_the_best_and_the_gap_says_so",
    ),
    line(
        "algorithm",
        "Sec. 2.2",
        "path weights by leaving one document out",
        "solvers.path_weights.estimate",
        "unit/solvers/test_path_weights::test_leaving_out_is_really_leaving_out",
    ),
    line(
        "algorithm",
        "Sec. 2.2",
        "tempered EM, the temperature chosen on held-out documents",
        "solvers.mixture.solve solvers.temperature.choose_temperature",
        "unit/solvers/test_mixture::test_a_schedule_gives_each_step_its_temperature "
        "unit/solvers/test_temperature"
        "::test_the_chosen_value_makes_held_out_items_most_likely",
    ),
    line(
        "equation",
        "8-9",
        "posterior of classes by Bayes' rule",
        "models.HierarchicalMixture.predict_proba",
        "unit/models/test_count_models"
        "::test_posteriors_are_priors_times_products_of_word_probabilities",
    ),
    line(
        "equation",
        "Sec. 2.2, end",
        "label sets: log P(d|c) - log P(d), with a held-out threshold for each class",
        "models.HierarchicalMixture inference.label_sets.CategoryThresholds",
        "unit/models/test_count_models"
        "::test_pooled_unigrams_are_the_words_of_all_items_by_hand "
        "unit/models/test_count_models"
        "::test_counted_thresholds_have_the_best_f1_of_each_category_and_force_no_label",
    ),
    line(
        "features",
        "Sec. 3.1.1",
        "15 newsgroups: subject and body, words that occur three times, no stop words",
        "experiments.work.news.newsgroups",
        "unit/experiments/test_tcph01::test_draws_have_as_many_of_each_group_and_test_on_others",
    ),
    line(
        "table",
        "1",
        "the hierarchy of the 15 newsgroups",
        "datasets.load",
        "unit/datasets/test_conversions::test_newsgroups",
        judged=(),
    ),
    line(
        "features",
        "Sec. 3.1.2",
        "Reuters-21578, ModApte, 90 categories, all words",
        "experiments.work.news.reuters",
        "unit/experiments/test_tcph01::test_label_set_measures_are_those_of_scikit_learn",
    ),
    line(
        "table",
        "2",
        "four groups of the Reuters categories",
        "experiments.work.grouping.grouped",
        "unit/experiments/test_tcph01::test_groups_by_likelihood_are_those_of_trying_all_mergers",
        judged=(("table-clusters", ""), ("table-cluster-members", "")),
    ),
    line(
        "claim",
        "Sec. 3.1.2",
        "agglomerative clustering of summed counts gives the four groups",
        "experiments.work.grouping.grouped",
        judged=(("table-clusters", ""),),
    ),
    line(
        "equation",
        "10",
        "information gain of a term",
        "features.InformationGainSelector",
        "unit/features/test_information_gain::test_gains_are_those_of_the_formula",
    ),
    line(
        "model",
        "Sec. 3.2.1",
        "naive Bayes with Lidstone smoothing; label sets share counts in equal parts",
        "models.LidstoneNB",
        "unit/models/test_count_models::test_lidstone_is_multinomial_naive_bayes "
        "unit/models/test_count_models::test_label_sets_split_counts_in_equal_parts "
        "unit/solvers/test_lidstone::test_the_best_of_all",
    ),
    line(
        "equation",
        "11",
        "product of word probabilities",
        "models.LidstoneNB",
        "unit/models/test_count_models::test_all_weight_on_the_leaf_is_naive_bayes",
    ),
    line(
        "equation",
        "12-13",
        "the class with the largest posterior",
        "models.LidstoneNB.predict",
        "unit/models/test_count_models"
        "::test_posteriors_are_priors_times_products_of_word_probabilities",
    ),
    line(
        "model",
        "Sec. 3.2.2",
        "PLSA, folded in for new documents",
        "models.PLSAClassifier",
        "unit/models/test_plsa_classifier::test_fitting_and_folding_in_are_the_reference",
    ),
    line(
        "equation",
        "14",
        "P(w, d) as a mixture of topics",
        "solvers.plsa.solve",
        "unit/solvers/test_plsa::test_training_is_the_dense_reference",
    ),
    line(
        "model",
        "Sec. 3.2.3",
        "hierarchical shrinkage (HS), with a uniform node above the root",
        "models.HierarchicalShrinkage",
        "unit/models/test_count_models::test_mixture_without_steps_is_shrinkage "
        "unit/models/test_count_models::test_taking_out_is_what_the_paper_says",
    ),
    line(
        "model",
        "Sec. 3.2.4",
        "k nearest neighbours with a threshold for each category",
        "models.ThresholdedKNN",
        "unit/models/test_thresholded_knn::test_scores_and_thresholds_are_those_of_brute_force",
    ),
    line(
        "equation",
        "15",
        "its score: similarities of neighbours less a threshold",
        "models.ThresholdedKNN.decision_function",
        "unit/models/test_thresholded_knn::test_scores_and_thresholds_are_those_of_brute_force",
    ),
    line(
        "model",
        "Sec. 3.2.5",
        "an SVM for each category; a miss costs ten times a false alarm",
        "models.CoupledBinarySVC",
        "unit/models/test_weighted_svm::test_the_paper_in_one_pipeline",
    ),
    line(
        "features",
        "Sec. 3.2.5",
        "(1 + log tf) log N/df, length 1",
        "features.TfidfWeights",
        "unit/features/test_tfidf::test_sublinear_weights_follow_the_formula",
    ),
    line(
        "measure",
        "Sec. 4",
        "micro- and macro-averaged precision, recall and F1",
        "metrics.precision_recall_f1",
        "unit/metrics/test_sets::test_micro_and_macro_against_sets_of_pairs "
        "unit/experiments/test_tcph01::test_label_set_measures_are_those_of_scikit_learn",
    ),
    line(
        "table",
        "3",
        "accuracy on newsgroups by number of training postings",
        "experiments.tcph01",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("table-3", ""), ("table-3-without-files", "")),
    ),
    line(
        "figure",
        "1",
        "its curves up to 67 postings",
        "experiments.tcph01",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("figure-1", ""),),
    ),
    line(
        "claim",
        "Sec. 4",
        "PLSA performs like HS at all sizes",
        "experiments.tcph01",
        judged=(("figure-1", "PLSA and HS are alike"),),
    ),
    line(
        "claim",
        "Sec. 4",
        "naive Bayes is weaker with 10 to 100 postings",
        "experiments.tcph01",
        judged=(("figure-1", "Naive Bayes is weaker"),),
    ),
    line(
        "claim",
        "Sec. 4",
        "all models perform alike with 667 postings",
        "experiments.tcph01",
        judged=(("table-3", "All methods are alike"),),
    ),
    line(
        "claim",
        "Sec. 4",
        "with 7 postings HM is the best",
        "experiments.tcph01",
        judged=(("table-3", "HM is more accurate than"), ("table-7-postings", "")),
    ),
    line(
        "claim",
        "Sec. 4",
        "by 11 % fewer errors than HS and 22 % fewer than naive Bayes",
        "experiments.tcph01",
        judged=(("table-3", "fewer errors"),),
    ),
    line(
        "claim",
        "Sec. 4",
        "its advantage is less striking with more postings",
        "experiments.tcph01",
        judged=(("table-3", "less striking"),),
    ),
    line(
        "claim",
        "Sec. 2.2",
        "more than two to five EM steps are unnecessary and overfit",
        "experiments.tcph01_readings",
        judged=(("table-em-steps", ""),),
    ),
    line(
        "claim",
        "Sec. 2.2",
        "HM needs little more time than HS",
        "experiments.work.word_models.fit_times",
        judged=(("table-cost", ""),),
    ),
    line(
        "table",
        "4",
        "label sets of Reuters-21578",
        "experiments.tcph01",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("table-4", ""), ("table-4-choices", "")),
    ),
    line(
        "claim",
        "Sec. 4",
        "the SVM is the best",
        "experiments.tcph01",
        judged=(("table-4", "The SVM is better"),),
    ),
    line(
        "claim",
        "Sec. 5",
        "HM outperforms HS and naive Bayes",
        "experiments.tcph01",
        judged=(("table-4", "HM is better"),),
    ),
    line(
        "claim",
        "Sec. 3.2.4",
        "k-NN is best with 2,000 terms",
        "experiments.work.word_models.neighbours",
        judged=(("table-4", "k-NN"),),
    ),
    line(
        "figure",
        "2",
        "F1 of small categories by number of training stories",
        "experiments.tcph01",
        "integration/test_reproduction::test_numbers_of_the_small_version",
        judged=(("figure-2", ""),),
    ),
    line(
        "claim",
        "Sec. 4",
        "on them HM is better than HS",
        "experiments.tcph01",
        judged=(("figure-2", ""),),
    ),
)
