"""AU(PRC) on the sets of `hmc-funcat-go`, beside the frequencies and published results.

Command: TAXONOMIST_DATA=... python -m benchmarks gene_functions
AU(PRC) is that of C-HMCNN: average precision pooled over all pairs of a test item and a node, with
label sets closed under ancestors, without the root, and on the Gene Ontology without its three
namespaces. ``frequencies`` scores each node by its share of the training items. ``HierarchicalRLS``
is least squares at every node over an approximate Gaussian kernel; gamma and then C are chosen on
the validation part (where there is none, on 30 % of the training items), and the model is then
fitted to both parts. ``ranking`` is HierarchicalRankingSVC, by its own scores and by the node
probabilities of CalibratedClassifier. Every run is a process of its own and is stopped when its
budget of seconds is used up.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.record import peak_memory_mib, save_part

if TYPE_CHECKING:
    from collections.abc import Sequence

BUDGET = 300
PUBLISHED = {  # C-HMCNN, mean of ten runs, from its repository.
    "cellcycle_FUN": 0.255,
    "derisi_FUN": 0.195,
    "eisen_FUN": 0.306,
    "gasch1_FUN": 0.286,
    "gasch2_FUN": 0.258,
    "seq_FUN": 0.292,
    "spo_FUN": 0.215,
    "cellcycle_GO": 0.413,
    "derisi_GO": 0.370,
    "eisen_GO": 0.455,
    "gasch1_GO": 0.436,
    "gasch2_GO": 0.414,
    "seq_GO": 0.446,
    "spo_GO": 0.382,
    "Diatoms": 0.758,
    "Enron_corr": 0.756,
    "ImCLEF07A": 0.956,
    "ImCLEF07D": 0.927,
}
UNPUBLISHED = ("church_FUN", "pheno_FUN", "pheno_GO")
PARTS = (*PUBLISHED, *UNPUBLISHED)
RANKED = ("cellcycle_FUN", "cellcycle_GO")
GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
COSTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Sets whose validation parts chose less than 10 of a grid up to 10 were not run again with larger
costs. Three sets choose the largest, where little changes any more."""
FIRST_COST = 0.3
N_COMPONENTS = 1000


def features(gamma: float) -> Any:
    """Return the preprocessing: missing values, scales, the kernel, and a constant feature."""
    from sklearn.impute import SimpleImputer
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler, add_dummy_feature

    return make_pipeline(
        SimpleImputer(keep_empty_features=True),
        StandardScaler(),
        Nystroem(gamma=gamma, n_components=N_COMPONENTS, random_state=0),
        FunctionTransformer(add_dummy_feature, kw_args={"value": 10.0}),
    )


class Problem:
    """A set with its parts and its measure."""

    def __init__(self, name: str) -> None:
        from sklearn.model_selection import train_test_split

        from taxonomist import datasets

        corpus = datasets.load("hmc-funcat-go", set=name)
        self.taxonomy, self.y = corpus.taxonomy, [list(row) for row in corpus.labels]
        self.X = np.asarray(corpus.X, dtype=np.float64)
        split = np.asarray(corpus.split)
        self.nodes = "below_roots" if name.endswith("_GO") else "all"
        self.learning, self.test = np.flatnonzero(split != "test"), np.flatnonzero(split == "test")
        if "valid" in split:
            self.train, self.valid = (np.flatnonzero(split == part) for part in ("train", "valid"))
        else:
            self.train, self.valid = train_test_split(self.learning, test_size=0.3, random_state=0)

    def labels(self, items: Any) -> list[list[str]]:
        """Return the label sets of some items."""
        return [self.y[item] for item in items]

    def area(self, items: Any, scores: Any, classes: Any = None) -> float:
        """Return AU(PRC) of scores of items."""
        from taxonomist import metrics

        return metrics.au_prc(
            self.labels(items), scores, self.taxonomy, classes=classes, nodes=self.nodes
        )


def frequencies(problem: Problem) -> dict[str, Any]:
    """Score each node by its share of the training items."""
    from taxonomist.taxonomy import labels

    taxonomy = problem.taxonomy
    sets = labels.encode_sets(taxonomy, problem.labels(problem.learning))
    shares = np.asarray(labels.close(taxonomy, sets).mean(axis=0)).ravel()
    scores = np.tile(shares, (len(problem.test), 1))
    return {"au_prc": problem.area(problem.test, scores)}


def least_squares(problem: Problem) -> dict[str, Any]:
    """Choose gamma and C on the validation part, and fit to both parts."""
    from taxonomist import HierarchicalRLS

    def scores(gamma: float, costs: tuple[float, ...], fitted: Any, scored: Any) -> Any:
        made = features(gamma / problem.X.shape[1]).fit(problem.X[fitted])
        A, B = (made.transform(problem.X[items]) for items in (fitted, scored))
        for C in costs:
            model = HierarchicalRLS(problem.taxonomy, C=C, train_on="all")
            yield C, model.fit(A, problem.labels(fitted)).node_decision_function(B)

    def tried(gamma: float, costs: tuple[float, ...]) -> list[tuple[float, float, float]]:
        found = scores(gamma, costs, problem.train, problem.valid)
        return [(problem.area(problem.valid, table), gamma, C) for C, table in found]

    first = max(try_ for gamma in GAMMAS for try_ in tried(gamma, (FIRST_COST,)))
    others = tuple(C for C in COSTS if C != FIRST_COST)
    valid, gamma, C = max(first, *tried(first[1], others))
    started = perf_counter()
    ((_, found),) = scores(gamma, (C,), problem.learning, problem.test)
    seconds = perf_counter() - started
    area = problem.area(problem.test, found)
    return {"au_prc": area, "valid": valid, "gamma": gamma, "C": C, "fit_and_score_s": seconds}


def ranking(problem: Problem) -> dict[str, Any]:
    """Fit the ranking SVM to standardised attributes, as it comes and with calibrated nodes."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from taxonomist import CalibratedClassifier, HierarchicalRankingSVC

    made = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    A, B = (
        part / np.sqrt(part.shape[1])
        for part in (
            made.fit_transform(problem.X[problem.learning]),
            made.transform(problem.X[problem.test]),
        )
    )
    own = HierarchicalRankingSVC(
        problem.taxonomy, stop="gap", tol=0.05, decision="top_k", random_state=0
    )
    model = CalibratedClassifier(own, method="isotonic", cv=3)
    started = perf_counter()
    model.fit(A, problem.labels(problem.learning))
    seconds = perf_counter() - started
    raw = problem.area(problem.test, model.decision_function(B), model.classes_.tolist())
    area = problem.area(problem.test, model.predict_node_proba(B))
    return {"au_prc": area, "au_prc_of_scores": raw, "fit_s": seconds}


CONTESTANTS = {"frequencies": frequencies, "HierarchicalRLS": least_squares, "ranking": ranking}


def run_apart(name: str, contestant: str) -> dict[str, Any]:
    """Run a contestant in a process of its own until it is done or its budget is used up."""
    command = [sys.executable, "-m", "benchmarks.gene_functions", name, contestant]
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", check=False, timeout=BUDGET
        )
    except subprocess.TimeoutExpired:
        return {"stopped_after_s": BUDGET}
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def run(parts: Sequence[str] = PARTS) -> None:
    """Run some sets, all by default, and record the figures of each when it is done."""
    for name in parts:
        found: dict[str, Any] = {"C-HMCNN, published": PUBLISHED.get(name)}
        for contestant in CONTESTANTS:
            if contestant != "ranking" or name in RANKED:
                found[contestant] = run_apart(name, contestant)
        print(name, json.dumps(found), flush=True)
        print(save_part("gene_functions", name, found, summary), flush=True)


def summary(figures: dict[str, Any]) -> dict[str, Any]:
    """Return on which sets the model is above the frequencies, and near the published results."""
    areas = {name: found["HierarchicalRLS"].get("au_prc", 0.0) for name, found in figures.items()}
    above = [name for name, f in figures.items() if areas[name] > f["frequencies"]["au_prc"]]
    shares = {name: areas[name] / PUBLISHED[name] for name in areas if name in PUBLISHED}
    return {
        "sets": len(figures),
        "above_the_frequencies": len(above),
        "at_90_per_cent_of_published": sorted(name for name in shares if shares[name] >= 0.9),
        "share_of_published": {name: round(share, 3) for name, share in shares.items()},
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    result = CONTESTANTS[sys.argv[2]](Problem(sys.argv[1]))
    print(json.dumps(result | {"peak_memory_mib": peak_memory_mib()}))
