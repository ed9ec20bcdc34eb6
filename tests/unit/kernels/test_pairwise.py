import numpy as np
import pytest
from scipy import sparse

from taxonomist.kernels import KERNELS, PairwiseKernel, resolve_gamma

X = np.random.default_rng(0).normal(size=(150, 4))


def naive(kernel, a, b):
    return {
        "linear": a @ b,
        "poly": (0.5 * a @ b + 1.0) ** 2,
        "rbf": np.exp(-0.5 * ((a - b) ** 2).sum()),
        "sigmoid": np.tanh(0.5 * a @ b + 1.0),
    }[kernel]


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name != "precomputed"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_values_follow_the_formulas(kernel, form):
    function = PairwiseKernel(kernel, gamma=0.5, degree=2, coef0=1.0)
    values = function(form(X[:5]), form(X[:7]))
    expected = [[naive(kernel, a, b) for b in X[:7]] for a in X[:5]]
    assert values == pytest.approx(np.array(expected))
    if kernel != "linear":
        assert function.diagonal(form(X)) == pytest.approx([naive(kernel, a, a) for a in X])


def test_a_function_of_matrices():
    function = PairwiseKernel(np.inner)
    assert function(X, X) == pytest.approx(X @ X.T)
    assert function.diagonal(X) == pytest.approx((X**2).sum(axis=1))
    with pytest.raises(ValueError, match="must return one value for each pair"):
        PairwiseKernel(lambda A, B: A)(X[:2], X[:3])


def test_gamma_as_in_scikit_learn():
    assert resolve_gamma("auto", X) == 0.25
    assert resolve_gamma("scale", X) == pytest.approx(1 / (4 * X.var()))
    assert resolve_gamma("scale", sparse.csr_array(X)) == pytest.approx(1 / (4 * X.var()))
    assert resolve_gamma(2, X) == 2.0
    assert resolve_gamma("scale", np.ones((3, 2))) == 1.0
