"""Stemmed counts of patents, made from training items alone."""

from __future__ import annotations

import numpy as np

from taxonomist import HierarchicalRankingSVC, Taxonomy
from taxonomist.experiments.work.patent_words import counts, with_unit_length


def test_stems_are_counted_without_stop_words() -> None:
    texts = ["The pumps were pumping and pumped a pump", "Relational relation of the valves"]
    assert sorted(map(tuple, counts(texts, is_stemmed=True).toarray().T.tolist())) == [
        (0.0, 1.0),
        (0.0, 2.0),
        (4.0, 0.0),
    ]
    assert counts(texts, is_stemmed=False).shape == (2, 7)


def test_words_of_test_items_do_not_change_their_length() -> None:
    taxonomy = Taxonomy.from_paths(["a > b", "a > c"])
    model = with_unit_length(taxonomy, lambda t: HierarchicalRankingSVC(t, decision="top_k"))
    X = np.array([[3.0, 4.0, 0.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    model.fit(X, [["b"], ["c"], ["b", "c"]])
    unseen = X.copy()
    unseen[:, 2] = 100.0
    np.testing.assert_array_equal(model[:-1].transform(unseen), model[:-1].transform(X))
    np.testing.assert_allclose(model[:-1].transform(X), [[0.6, 0.8], [0, 1], [1, 0]])
