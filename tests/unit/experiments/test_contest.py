"""The contest from raw texts: its split of corpora, its contestants, and its claims."""

import numpy as np
import pytest

from taxonomist import Taxonomy
from taxonomist.experiments import contest
from taxonomist.experiments.claims.ranks import FirstRank, WithinTime
from taxonomist.experiments.contest import GUIDING, KEPT, contestants, paper
from taxonomist.experiments.declarations import Result
from taxonomist.experiments.work import text_contestants
from taxonomist.experiments.work.text_contestants import OURS, SETS, SINGLE, Tuned
from taxonomist.experiments.work.text_contests import text_contest
from taxonomist.experiments.work.trials import SplitData
from taxonomist.experiments.work.tuned_sets import AtLeastOne

TREE = Taxonomy.from_paths(["animal > cat", "animal > dog", "plant > oak"])
WORDS = {"cat": "purrs softly", "dog": "barks loudly", "oak": "leaves acorns"}
LABELS = ["cat", "dog", "oak"] * 14
HERE = [name for name in SINGLE if text_contestants.is_installed(name)]


def problem(is_sets=False):
    y = [[label, "dog"] if i % 2 else [label] for i, label in enumerate(LABELS)]
    rows = y if is_sets else [[label] for label in LABELS]
    texts = np.array([" ".join(WORDS[label] for label in row) for row in rows], dtype=object)
    split = np.arange(30), np.arange(30, 42)
    ids = [f"toy/{i}" for i in range(42)]
    return SplitData(texts, y if is_sets else np.array(LABELS, dtype=object), TREE, [split], ids)


def test_every_corpus_guides_choices_or_is_kept():
    assert not set(GUIDING) & set(KEPT)
    assert not {data.corpus for data in GUIDING.values()} & {data.corpus for data in KEPT.values()}
    whole = paper(is_quick=False)
    assert [table.title.split(", ")[1] for table in whole.tables] == [
        "corpora that may guide choices",
        "corpora that were looked at once",
    ]
    for table, corpora in zip(whole.tables, (GUIDING, KEPT), strict=True):
        assert {cell.rsplit("/", 1)[0] for cell in table.cells} == set(corpora)
    assert all(cell.is_timed for cell in whole.cells)


def test_tables_say_which_corpora_have_not_been_run():
    whole = paper(is_quick=False)
    assert not any("have been run" in table.corpus for table in whole.tables)
    done = {cell.name for cell in whole.cells if cell.corpus in ("trec-question", "icd10cm")}
    others = [cell.name for cell in whole.cells if cell.corpus == "naics2012"]
    # A corpus counts when all of its contestants have finished.
    done |= set(others[:-1])
    (table,) = whole.finished(lambda cell: cell.name in done).tables
    assert {cell.rsplit("/", 1)[0] for cell in table.cells} == {"trec-question", "icd10cm"}
    assert table.corpus.startswith("**Of 9 corpora, 2 have been run")
    assert "Missing: reuters21578; onet-soc" in table.corpus
    assert table.title.endswith("(2 of 9 run)")
    assert all(set(claim.rows) == {"trec-question", "icd10cm"} for claim in table.claims)
    assert not whole.finished(lambda _: False).tables


def test_a_contestant_that_needs_a_tree_takes_no_part_in_dags(monkeypatch):
    monkeypatch.setattr(contest, "is_installed", lambda _: True)
    assert contestants("trec-question") == list(SINGLE)
    assert "HiClass, C chosen" not in contestants("arxiv, primary")
    assert contestants("biotools-edam") == list(SETS)
    monkeypatch.setattr(contest, "is_installed", lambda name: name == OURS)
    assert contestants("trec-question") == [OURS]
    assert "napkinXC is not installed and takes no part." in list(contest.left_out())


@pytest.mark.parametrize("is_sets", [False, True])
@pytest.mark.parametrize("name", [name for name in HERE if name not in ("PECOS", "napkinXC")])
def test_contestants_learn_from_texts(name, is_sets):
    if name not in (SETS if is_sets else SINGLE):
        return
    found = text_contest(lambda: problem(is_sets), contestant=name)
    assert found.values["exact"][0] == 1.0
    assert found.values["cpu_seconds"][0] > 0
    assert found.values["wall_seconds"][0] > 0
    assert found.values["n_items"] == [30]
    assert found.item_ids["exact"][0] == "toy/30"


def test_the_best_cost_is_chosen_on_training_items():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefgh"), 6)) + f" {WORDS[label]}" for label in LABELS]
    made = []

    class Wrong:
        def __init__(self, C):
            self.C = C

        def fit(self, X, y):
            made.append((self.C, X.shape[0]))
            return self

        def predict(self, X):
            return ["cat" if self.C == 3.0 else "ash"] * X.shape[0]

    tuned = Tuned(Wrong, (1.0, 3.0, 10.0)).fit(texts, LABELS)
    assert tuned.C == 3.0
    # Three folds for each value, and then all items.
    assert [size for _, size in made] == [28] * 9 + [42]
    assert made[-1][0] == 3.0


def test_no_further_cost_is_tried_when_time_is_up(monkeypatch):
    monkeypatch.setattr(text_contestants, "TUNING_S", -1.0)
    made = []

    class Model:
        def __init__(self, C):
            made.append(C)

        def fit(self, X, y):
            return self

        def predict(self, X):
            return ["oak"] * X.shape[0]

    assert Tuned(Model, (3.0, 1.0)).fit(problem().X.tolist(), LABELS).C == 3.0
    assert made == [3.0] * 4


def test_a_contestant_without_an_answer_in_time_is_wrong_everywhere():
    found = text_contest(problem, contestant="LinearSVC, C chosen", limit_s=0)
    assert found.values["exact"] == [0.0]
    assert found.values["hierarchical_f1"] == [0.0]
    assert found.values["cpu_seconds"] == [0]
    sets = text_contest(lambda: problem(is_sets=True), contestant=OURS, limit_s=0)
    assert sets.values["hierarchical_f1"] == [0.0]


def test_every_item_gets_a_label():
    from sklearn.svm import LinearSVC

    X = np.eye(3)[[0, 1, 2] * 4]
    model = AtLeastOne(LinearSVC()).fit(X, [["a"], ["b"], ["a", "b"]] * 4)
    assert model.predict(np.eye(3)) == [["a"], ["b"], ["a", "b"]]
    assert all(len(row) == 1 for row in model.predict(-np.eye(3) * 5))


def results(values):
    return {name: Result({"f1": [value], "seconds": [value]}) for name, value in values.items()}


def test_mean_ranks():
    rows = {"x": ("x/us", ("x/a", "x/b")), "y": ("y/us", ("y/a",))}
    first = FirstRank("", rows, "f1")
    assert set(first.cells) == {"x/us", "x/a", "x/b", "y/us", "y/a"}
    found = results({"x/us": 0.8, "x/a": 0.9, "x/b": 0.1, "y/us": 0.5, "y/a": 0.5})
    judged = first.judge(found)
    assert judged.verdict == "no"
    assert judged.because == "mean ranks: a 1.25, us 1.75, b 3.00"
    found["x/us"] = Result({"f1": [0.95]})
    assert first.judge(found).verdict == "yes"


def test_time_within_a_multiple_of_the_slowest():
    rows = {"x": ("x/us", ("x/a", "x/b")), "y": ("y/us", ("y/a",))}
    within = WithinTime("", rows, "seconds", 3.0)
    found = results({"x/us": 9.0, "x/a": 1.0, "x/b": 4.0, "y/us": 2.0, "y/a": 1.0})
    assert within.judge(found).verdict == "yes"
    found["y/us"] = Result({"seconds": [3.5]})
    judged = within.judge(found)
    assert judged.verdict == "no"
    assert "longer in y 3.5" in judged.because
    assert judged.rows == "in 1 of 2 rows"
