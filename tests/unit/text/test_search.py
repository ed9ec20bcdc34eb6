"""The search of ``"auto"`` within a budget, with a clock that is set by hand."""

import numpy as np
import pytest

from taxonomist import Taxonomy, TextClassifier, metrics
from taxonomist.compiled.compiling import working_clock
from taxonomist.errors import ParameterError
from taxonomist.losses import weighted_tree
from taxonomist.text import search as searching
from taxonomist.text import timing
from taxonomist.text.budget import BUDGET, Budget
from taxonomist.text.models import make_model, members_of
from taxonomist.text.sampling import sampled
from taxonomist.text.search import COSTS, SearchProblem, Trial, search

N_ITEMS = 150


class Clock:
    """A clock that moves only when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def problem(n_items=N_ITEMS, is_multilabel=False):
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_paths([("x", "a"), ("x", "b"), ("y", "c"), ("y", "d")])
    codes = rng.integers(4, size=n_items)
    X = np.eye(4)[codes] + 0.1 * rng.random((n_items, 4))
    labels = [taxonomy.leaves[code] for code in codes]
    if is_multilabel:
        labels = [[label, "a"] for label in labels]
    return SearchProblem({False: X, True: np.round(X)}, labels, taxonomy, is_multilabel)


class Timed:
    """A search whose candidates take a given time per item that they are fitted to."""

    def __init__(self, monkeypatch, speeds, broken=None):
        self.clock, self.steps, self.fits = Clock(), [], []
        real = SearchProblem.predicted

        def predicted(problem, name, C, train, test):
            self.fits.append((name, C, len(train)))
            if broken == (name, C, len(train)):
                raise KeyboardInterrupt
            self.clock.now += sum(speeds[member] for member in members_of(name)) * len(train)
            return real(problem, name, C, train, test)

        monkeypatch.setattr(SearchProblem, "predicted", predicted)

    def run(self, seconds):
        return search(PROBLEM, 3, 0, Budget(seconds, self.clock), self.steps.append)


PROBLEM = problem()
FAST = {"path": 0.01, "flat": 0.01, "svm": 0.01, "mixture": 0.01}


def chosen(trials):
    return [(trial.model, trial.C) for trial in trials if trial.score is not None]


def test_what_fits_is_tried_as_without_a_budget(monkeypatch):
    free = search(PROBLEM, 3, 0)
    timed = Timed(monkeypatch, FAST)
    found = timed.run(1000.0)
    assert [trial[:3] for trial in found] == [trial[:3] for trial in free]
    assert len(found) == 3 + 1 + len(COSTS)
    assert not any(trial.note for trial in found)


def test_without_a_budget_nothing_is_timed(monkeypatch):
    timed = Timed(monkeypatch, FAST)
    timed.run(None)
    assert {size for _, _, size in timed.fits} == {100}


def test_an_estimate_comes_before_each_candidate(monkeypatch):
    timed = Timed(monkeypatch, FAST)
    timed.run(1000.0)
    tried = [step for step in timed.steps if "C=" in step.what]
    # Three folds of 100 items at 0.01 s each; the blend takes the time of both.
    assert [step.estimate for step in tried] == pytest.approx([3.0, 3.0, 3.0, 6.0, 3.0, 3.0])
    assert [step.done for step in tried] == [0, 1, 2, 3, 4, 5]
    assert {step.total for step in tried} == {6}
    assert [step.left for step in tried] == sorted((step.left for step in tried), reverse=True)
    assert timed.steps[0].what == "timing path"


def test_a_candidate_that_does_not_fit_is_left_out_and_named(monkeypatch):
    timed = Timed(monkeypatch, FAST | {"svm": 10.0})
    found = timed.run(300.0)
    tried = [("path", 1.0), ("flat", 1.0), ("path + flat", 1.0), ("path", 0.3), ("path", 3.0)]
    assert set(chosen(found)) == set(tried)
    last = found[-1]
    assert (last.model, last.C, last.score) == ("svm", 1.0, None)
    assert last.note.startswith("would take about")
    assert "s were left" in last.note
    assert ("svm", 1.0, 100) not in timed.fits
    assert timed.clock.now < 300


def test_another_cost_is_estimated_by_the_first(monkeypatch):
    timed = Timed(monkeypatch, FAST)
    found = timed.run(19.4)
    # Three models, timed on 20 items each, take 9.6 s, the blend of two takes 6 s, and one more
    # value of C takes 3 s.
    assert len(chosen(found)) == 5
    assert COSTS[1] == found[-1].C
    assert "would take about 3 s, 0.8 s were left" in found[-1].note


def test_a_candidate_that_is_slower_than_its_estimate_is_given_up(monkeypatch):
    timed = Timed(monkeypatch, FAST | {"svm": 1.0})
    monkeypatch.setattr(searching, "estimate", lambda *_: 1.0)
    found = timed.run(250.0)
    assert ("svm", 1.0) not in chosen(found)
    (given_up,) = [trial for trial in found if trial.model == "svm"]
    assert given_up.note == "given up after 100 s"
    assert [fit for fit in timed.fits if fit[0] == "svm" and fit[2] == 100] == [("svm", 1.0, 100)]


def test_if_nothing_fits_the_fastest_is_used(monkeypatch):
    speeds = {"path": 3.0, "flat": 2.0, "svm": 1.0}
    timed = Timed(monkeypatch, speeds)
    found = timed.run(110.0)
    assert [(trial.model, trial.seconds) for trial in found] == [
        ("svm", 60.0),
        ("flat", 120.0),
        ("path", 180.0),
    ]
    assert not chosen(found)
    # Timing a model on 20 items takes 60 s, and that is all there is.
    late = Timed(monkeypatch, speeds).run(60.0)
    assert [(trial.model, trial.seconds) for trial in late] == [
        ("path", 180.0),
        ("flat", None),
        ("svm", None),
    ]
    assert late[1].note == "no time was left"


def test_compilation_does_not_count():
    assert Budget(60.0).clock is working_clock


def test_an_interrupt_keeps_the_best_so_far(monkeypatch):
    timed = Timed(monkeypatch, FAST, broken=("svm", 1.0, 100))
    found = timed.run(1000.0)
    assert set(chosen(found)) == {("path", 1.0), ("flat", 1.0)}
    assert [(trial.model, trial.note) for trial in found[2:]] == [("svm", "interrupted")]
    assert timed.steps[-1].what == f"interrupted, going on with {found[0].model}"


@pytest.mark.parametrize("broken", [("path + flat", 1.0), ("path", COSTS[1])])
def test_what_an_interrupt_ends_is_named(monkeypatch, broken):
    real = searching._Search._try

    def interrupted(search, *candidate):
        if candidate == broken:
            raise KeyboardInterrupt
        real(search, *candidate)

    monkeypatch.setattr(searching._Search, "_try", interrupted)
    found = Timed(monkeypatch, FAST).run(None)
    assert [trial[:2] for trial in found if trial.note == "interrupted"] == [broken]
    assert found[-1][:2] == broken


def test_an_interrupt_before_anything_is_measured_is_passed_on(monkeypatch):
    timed = Timed(monkeypatch, FAST, broken=("path", 1.0, 100))
    with pytest.raises(KeyboardInterrupt):
        timed.run(1000.0)


def test_estimates_are_linear_in_the_number_of_items(monkeypatch):
    clock, sizes = Clock(), []
    large = problem(n_items=4000)

    def predicted(_, name, C, train, test):
        sizes.append((len(train), len(test)))
        clock.now += 2 + 0.01 * len(train)

    monkeypatch.setattr(SearchProblem, "predicted", predicted)
    items = np.arange(3000)
    found = timing.estimate("svm", large, items, 3, Budget(1e6, clock))
    assert found == pytest.approx(3 * (2 + 0.01 * 2000))
    assert sizes == [(75, 37), (300, 150)]
    # Two times that differ by chance still grow.
    times = iter([5.0, 3.0])
    monkeypatch.setattr(
        SearchProblem, "predicted", lambda *_: setattr(clock, "now", clock.now + next(times))
    )
    found = timing.estimate("svm", large, items, 3, Budget(1e6, clock))
    assert found == pytest.approx(3 * (3 + 0.25 * 3 / 300 * 1700))
    monkeypatch.setattr(SearchProblem, "predicted", predicted)
    # The first fit shows that three of them take longer than there is time.
    sizes.clear()
    assert timing.estimate("svm", large, items, 3, Budget(5, clock)) == pytest.approx(3 * 2.75)
    assert sizes == [(75, 37)]


@pytest.mark.parametrize("is_multilabel", [False, True])
def test_every_candidate_can_be_timed(is_multilabel):
    given = problem(is_multilabel=is_multilabel)
    for name in searching.candidates(given):
        assert timing.estimate(name, given, np.arange(N_ITEMS), 3, Budget(100.0)) > 0


def test_the_time_of_the_training_is_estimated():
    step = searching.last_step([Trial("svm", 1.0, 0.5, 10.0)], 20_000, 3, True)
    # Two thirds of 5,000 items were fitted three times in 10 s; 20,000 items are fitted once, and
    # two thirds of them three times.
    assert step.estimate == pytest.approx(10 * 60_000 / 10_000)
    assert step.what == "training svm, C=1"
    unknown = searching.last_step([Trial("svm", 1.0, None, None)], 20_000, 3, True)
    assert unknown.estimate is None


def test_the_classifier_has_a_budget(monkeypatch):
    assert TextClassifier().budget == BUDGET == 120
    texts, y = ["purrs", "barks"] * 10, ["cat", "dog"] * 10
    for budget in (0, -1, float("nan"), "120"):
        with pytest.raises(ParameterError, match="budget must be a number of seconds above 0"):
            TextClassifier(budget=budget).fit(texts, y)
    steps = []
    model = TextClassifier(model="auto", budget=None, cv=2).fit(texts, y, callback=steps.append)
    assert [step.what for step in steps][-1].startswith("training ")
    assert all(step.estimate is None for step in steps[:-1])
    assert model.refit(texts, y).budget is None
    hurried = TextClassifier(model="auto", budget=1e-9, cv=2).fit(texts, y)
    assert hurried.search_[0].score is None
    assert hurried.search_[0].note
    assert hurried.predict(["barks"]) == ["dog"]


def test_trials_of_older_files_have_no_note(tmp_path, monkeypatch):
    texts, y = ["purrs", "barks"] * 10, ["cat", "dog"] * 10
    model = TextClassifier(model="auto", cv=2).fit(texts, y)
    fields = Trial._fields[:-1]
    with monkeypatch.context() as older:
        older.setattr(Trial, "_asdict", lambda trial: dict(zip(fields, trial, strict=False)))
        model.save(tmp_path / "model")
    assert TextClassifier.load(tmp_path / "model").search_ == model.search_


def test_a_perfect_score_has_no_sign():
    perfect = PROBLEM._replace(measure="taxonomy_loss")
    assert all(str(trial.score) == "0.0" for trial in search(perfect, 3, 0)[:1])


def test_a_given_cost_is_the_only_one_that_is_tried(monkeypatch):
    timed = Timed(monkeypatch, FAST)
    found = search(PROBLEM._replace(C=7.0), 3, 0, Budget(1000.0, timed.clock))
    assert {trial.C for trial in found} == {7.0}
    assert {C for name, C, size in timed.fits if size == 100} == {7.0}
    texts, y = ["purrs", "barks"] * 10, ["cat", "dog"] * 10
    model = TextClassifier(model="auto", C=7.0, cv=2).fit(texts, y)
    assert {trial.C for trial in model.search_} == {7.0}
    assert "C=7.0" in model.training_["model"]


def test_a_model_that_would_train_too_long_is_left_out(monkeypatch):
    monkeypatch.setattr(searching, "sampled", lambda *_: np.arange(30))
    monkeypatch.setattr(searching, "MOST_ITEMS", 30)
    timed = Timed(monkeypatch, FAST | {"svm": 0.3})
    found = timed.run(26.5)
    assert ("svm", 1.0) not in chosen(found)
    (left_out,) = [trial for trial in found if trial.model == "svm"]
    assert left_out.note == "training would take about 135 s"


MEASURED = {
    "hierarchical_f1": (metrics.hierarchical_f1, metrics.hierarchical_f1),
    "accuracy": (
        lambda y, z, _: metrics.accuracy(y, z),
        lambda y, z, tree: 1 - metrics.zero_one_loss(y, z, tree),
    ),
    "taxonomy_loss": (
        lambda y, z, tree: -metrics.taxonomy_loss(y, z, tree),
        lambda y, z, tree: -metrics.symmetric_difference_loss(y, z, tree),
    ),
    "micro_f1": [lambda y, z, tree: own_f1(y, z, tree)] * 2,
}


def own_f1(truth, found, tree):
    """Return the F1 of most specific labels, pooled over all of them."""
    pairs = []
    for sets in (truth, found):
        rows = [{row} if isinstance(row, str) else set(row) for row in sets]
        pairs.append([{a for a in row if not row & set(tree.descendants(a))} for row in rows])
    both = sum(len(a & b) for a, b in zip(*pairs, strict=True))
    return 2 * both / sum(len(row) for rows in pairs for row in rows)


@pytest.mark.parametrize("is_multilabel", [False, True])
@pytest.mark.parametrize("measure", MEASURED)
def test_models_are_compared_by_the_measure(measure, is_multilabel):
    given = problem(n_items=60, is_multilabel=is_multilabel)._replace(measure=measure)
    noisy = given._replace(features={False: given.features[False] + noise(60, 4)})
    items = np.arange(60)
    score = noisy.held_out_score("flat", 1.0, items, 2)
    halves = items[:30], items[30:]
    found = [
        label
        for train, test in (halves[::-1], halves)
        for label in noisy.predicted("flat", 1.0, train, test)
    ]
    expected = MEASURED[measure][is_multilabel](given.labels, found, given.taxonomy)
    assert score == pytest.approx(expected)
    assert score != MEASURED[measure][is_multilabel](given.labels, given.labels, given.taxonomy)


def noise(*shape):
    return np.random.default_rng(1).normal(size=shape)


def test_a_scorer_decides_if_it_is_given():
    calls = []

    def smallest(model, X, y):
        calls.append(type(model).__name__)
        return -float(len(model.get_params()))

    found = search(PROBLEM._replace(measure=smallest), 3, 0)
    assert found[0].score == max(trial.score for trial in found)
    assert {"PathSVC", "HierarchicalSVC"} <= set(calls)
    texts, y = ["purrs", "barks"] * 10, ["cat", "dog"] * 10
    model = TextClassifier(model="auto", cv=2, measure=metrics.scorer("accuracy")).fit(texts, y)
    assert model.search_[0].score == 1.0


def test_scorers_are_not_saved(tmp_path):
    texts, y = ["purrs", "barks"] * 10, ["cat", "dog"] * 10
    model = TextClassifier(cv=2, measure=lambda *_: 1.0).fit(texts, y)
    model.save(tmp_path / "model")
    assert TextClassifier.load(tmp_path / "model").measure == "hierarchical_f1"


def test_label_sets_are_decided_for_the_measure():
    texts, y = ["purrs", "barks", "purrs barks"] * 6, [["cat"], ["dog"], ["cat", "dog"]] * 6
    decisions = {
        "hierarchical_f1": "hierarchical_f1",
        "accuracy": "subset",
        "taxonomy_loss": "loss",
        "micro_f1": "micro_f1",
        "macro_f1": "macro_f1",
    }
    for measure, decision in decisions.items():
        model = TextClassifier(cv=2, measure=measure).fit(texts, y)
        assert model.model_.decision == decision
    made = make_model("flat", None, is_multilabel=True, measure="macro_f1")
    assert made.decision == "category_thresholds"
    with pytest.raises(ParameterError, match="measure must be one of .* Did you mean 'micro_f1'"):
        TextClassifier(measure="micro_f").fit(texts, y)


def test_a_sample_keeps_rare_categories():
    labels = ["many"] * 900 + [f"rare{k}" for k in range(40)] * 2
    found = sampled(labels, False, 100, 0)
    assert len(found) == len(set(found.tolist())) == 100
    kept = [labels[item] for item in found]
    assert {f"rare{k}" for k in range(40)} <= set(kept)
    assert kept.count("many") == 20
    # If there is not even room for one of each, as many categories as possible are kept.
    assert len({labels[item] for item in sampled(labels, False, 30, 0)}) == 30
    few = sampled(labels, False, 2000, 0)
    assert sorted(few.tolist()) == list(range(980))
    half = [labels[item] for item in sampled(labels, False, 160, 0, 0.5)]
    assert len(set(half)) == 41
    assert 80 < half.count("many") < 120
    sets = [[label, "many"] for label in labels]
    kept = sampled(sets, True, 100, 1)
    assert {f"rare{k}" for k in range(40)} <= {label for item in kept for label in sets[item]}


def test_threads_reach_the_models(monkeypatch):
    seen = []
    real = SearchProblem.fitted

    def fitted(self, *given):
        model = real(self, *given)
        seen.append(model.get_params().get("n_jobs", 1))
        return model

    monkeypatch.setattr(SearchProblem, "fitted", fitted)
    texts, y = ["purrs", "barks"] * 10, ["cat", "dog"] * 10
    TextClassifier(model="auto", cv=2, n_jobs=1).fit(texts, y)
    assert set(seen) == {1}


def test_with_the_loss_as_measure_predictions_have_the_least_expected_loss():
    # Half of the texts tell the branch only, and a leaf is right in a third of them.
    tree = Taxonomy.from_paths([f"{top} > {top}{k}" for top in "xy" for k in range(3)])
    labels = list(tree.leaves) * 20
    texts = [f"{y[0]}{y[0]}" + f" leaf{y}" * (k % 4 < 2) for k, y in enumerate(labels)]
    loss, plain = (
        TextClassifier(tree, measure=measure, cv=2).fit(texts, labels)
        for measure in ("taxonomy_loss", "accuracy")
    )
    assert loss.predict(texts).tolist() == plain.predict(texts, cost=weighted_tree()).tolist()
    assert loss.predict(texts).tolist() == loss.predict(texts, cost="tree").tolist()
    assert loss.predict(texts).tolist() != plain.predict(texts).tolist()
    assert loss.answer(texts).labels() == [[label] for label in loss.predict(texts)]
    share = np.mean(loss.predict(texts) == np.array(labels, dtype=object))
    assert loss.score(texts, labels) == pytest.approx(share)
    # Without probabilities there is no expected loss.
    bare = TextClassifier(tree, model="svm", measure="taxonomy_loss", calibration=None)
    assert set(bare.fit(texts, labels).predict(texts)) <= set(tree.leaves)


def test_a_blend_of_the_best_two_needs_a_lead(monkeypatch):
    scores = {"path": 0.8, "flat": 0.7, "svm": 0.75}
    for lead, best in ((0.004, "path"), (0.006, "path + svm")):
        known = scores | {"path + svm": 0.8 + lead}
        monkeypatch.setattr(
            SearchProblem,
            "held_out_score",
            lambda _, name, C, *__, known=known: known.get(name, 0.1) * C,
        )
        monkeypatch.setattr(searching, "COSTS", (0.5,))
        assert search(PROBLEM, 3, 0)[0].model == best
    assert not any("+" in trial.model for trial in search(problem(40, True), 3, 0))


def test_a_blend_is_a_model_like_others(tmp_path):
    texts, y = ["purrs", "barks", "oinks"] * 10, ["cat", "dog", "pig"] * 10
    tree = Taxonomy.from_paths(["pet > cat", "pet > dog", "farm > pig"])
    model = TextClassifier(tree, model="path + svm", C=2.0, cv=2).fit(texts, y)
    assert [member.C for member in model.model_.model_.models_] == [2.0, 2.0]
    # Its weights were fitted to held-out items.
    assert model.model_.model_.models_[0].blend_["chance"] > 0
    assert model.predict(["barks"]).tolist() == ["dog"]
    model.save(tmp_path / "model")
    again = TextClassifier.load(tmp_path / "model")
    assert again.predict_proba(texts).tobytes() == model.predict_proba(texts).tobytes()
    assert model.flat_twin().fit(texts, y).predict(["barks"]).tolist() == ["dog"]
