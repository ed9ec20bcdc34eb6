"""What files leave out of a model, and that the next fit works without it."""

import pytest

from taxonomist.persistence import describe, load, save
from tests.unit.persistence.examples import model_of, problem, same, same_answers

WARM = (
    "HierarchicalSVC",
    "HierarchicalRankingSVC",
    "CoupledBinarySVC",
    "MaxMarginMarkovClassifier",
)
EXACT = {"tol": 1e-4, "stop": "gap", "C": 0.01, "max_iter": 100_000}


def fitted(name, n=25, **parameters):
    X, y, sets = problem()
    target = y if name == "HierarchicalSVC" else sets
    model = model_of(name, **parameters).fit(X[:n], target[:n])
    return model, X, target


@pytest.mark.parametrize("name", WARM)
def test_dual_variables_are_left_out(name, tmp_path):
    model, X, _ = fitted(name)
    save(model, tmp_path / "lean")
    model.set_params(warm_start=True)
    save(model, tmp_path / "whole")
    sizes = [describe(tmp_path / path)["bytes"] for path in ("lean", "whole")]
    assert sizes[0] < sizes[1]
    assert not same(model, load(tmp_path / "whole"))
    left_out = load(tmp_path / "lean")
    assert left_out.start_ is None
    same_answers(model, left_out, X)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", [*WARM, "HierarchicalPerceptron"])
def test_a_warm_start_goes_on_from_a_file(name, tmp_path):
    model, X, y = fitted(name, warm_start=True)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model").fit(X, y)
    same_answers(model.fit(X, y), copy, X)
    seconds = ("seconds",)
    for one, two in zip(model.history_, copy.history_, strict=True):
        assert {k: v for k, v in one._asdict().items() if k not in seconds} == {
            k: v for k, v in two._asdict().items() if k not in seconds
        }


@pytest.mark.parametrize("name", WARM)
def test_a_warm_start_without_dual_variables_is_a_cold_one(name, tmp_path):
    model, X, y = fitted(name, **EXACT)
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model").set_params(warm_start=True).fit(X, y)
    cold, _, _ = fitted(name, n=len(X), **EXACT)
    assert copy.objective_ == pytest.approx(cold.objective_, rel=2e-4)
    assert copy.coef_ == pytest.approx(cold.coef_, abs=0.01)


def test_kernels_leave_out_dual_variables_too(tmp_path):
    X, _, y = problem()
    for name in ("HierarchicalRankingSVC", "CoupledBinarySVC", "HierarchicalPerceptron"):
        model = model_of(name, kernel="rbf", gamma=0.01).fit(X, y)
        save(model, tmp_path / name)
        copy = load(tmp_path / name)
        same_answers(model, copy, X)
        copy.set_params(warm_start=True).fit(X, y)


def test_items_of_a_perceptron_are_not_kept(tmp_path):
    model, _, _ = fitted("HierarchicalPerceptron")
    save(model, tmp_path / "model")
    copy = load(tmp_path / "model")
    assert len(model.start_.duals.size) == 25
    assert len(copy.start_.duals.size) == 0
    assert copy.start_.W is copy.scorer_.W
    assert copy.start_.last is copy.scorer_.W
