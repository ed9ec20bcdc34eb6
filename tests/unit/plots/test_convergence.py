import numpy as np
import pytest

from taxonomist import HierarchicalSVC, plots


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=200)
    return HierarchicalSVC(random_state=0).fit(rng.normal(size=(200, 5)) + y[:, None], y)


@pytest.mark.parametrize("x", ["passes", "seconds"])
def test_both_objectives_and_the_active_ratio_are_drawn(model, x, tmp_path):
    figure = plots.convergence(model, x)
    upper, lower = figure.axes
    lines = {line.get_label(): line for line in upper.lines}
    assert list(lines["dual"].get_ydata()) == [p.dual for p in model.history_]
    assert list(lines["primal"].get_ydata()) == [p.primal for p in model.history_]
    assert lower.lines[0].get_ydata()[-1] == pytest.approx(model.active_ratio_)
    figure.savefig(tmp_path / "convergence.png")
    assert (tmp_path / "convergence.png").stat().st_size > 5_000


def test_an_unknown_axis_is_refused(model):
    with pytest.raises(ValueError, match="'passes' or 'seconds'. Got 'hours'"):
        plots.convergence(model, "hours")
