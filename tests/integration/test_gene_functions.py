"""The page on numeric attributes on real genes: above frequencies, and near a neural network."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, add_dummy_feature

from taxonomist import HierarchicalRLS, metrics
from taxonomist.taxonomy import labels


@pytest.mark.parametrize(("name", "published"), [("cellcycle_FUN", 0.255), ("eisen_FUN", 0.306)])
def test_least_squares_reach_nine_tenths_of_c_hmcnn(load_corpus, name, published):
    corpus = load_corpus("hmc-funcat-go", set=name)
    taxonomy, is_test = corpus.taxonomy, np.asarray(corpus.split) == "test"
    features = make_pipeline(
        SimpleImputer(keep_empty_features=True),
        StandardScaler(),
        Nystroem(gamma=1 / corpus.X.shape[1], n_components=1000, random_state=0),
        FunctionTransformer(add_dummy_feature, kw_args={"value": 10.0}),
    ).fit(corpus.X[~is_test])
    Y = labels.close(taxonomy, labels.encode_sets(taxonomy, corpus.labels))
    shares = np.asarray(Y[~is_test].mean(axis=0)).ravel()
    model = HierarchicalRLS(taxonomy, C=0.3, train_on="all")
    y = [corpus.labels[item] for item in np.flatnonzero(~is_test)]
    model.fit(features.transform(corpus.X[~is_test]), y)
    scores = model.node_decision_function(features.transform(corpus.X[is_test]))
    area = metrics.au_prc(Y[is_test], scores, taxonomy)
    assert area > metrics.au_prc(Y[is_test], np.tile(shares, (is_test.sum(), 1)), taxonomy) + 0.05
    assert area > 0.9 * published
