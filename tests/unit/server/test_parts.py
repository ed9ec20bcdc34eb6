"""Small parts of the service: batches, rates, search, languages, estimates, settings."""

from __future__ import annotations

import asyncio
import random
import threading

import pytest
from scipy.stats import binomtest

from taxonomist import Taxonomy
from taxonomist.compiled.jit import spares
from taxonomist.errors import ParameterError
from taxonomist.server import label_search
from taxonomist.server.batching import Batcher, OverloadedError
from taxonomist.server.label_search import LabelSearch, folded
from taxonomist.server.languages import detect_language
from taxonomist.server.live_model import LiveModel
from taxonomist.server.problems import ProblemError
from taxonomist.server.projects import check_project_id
from taxonomist.server.quality import estimate
from taxonomist.server.rates import RateLimit
from taxonomist.server.settings import ServiceLimits, ServiceSettings
from tests.unit.server.corpus import TAXONOMY


def test_concurrent_questions_form_batches():
    sizes, go_on = [], threading.Event()

    def answer(questions):
        sizes.append(len(questions))
        go_on.wait(10)
        return [2 * question for question in questions]

    async def ask():
        batcher = Batcher(answer, 1000)
        asked = [asyncio.create_task(batcher.ask(i)) for i in range(150)]
        await asyncio.sleep(0.05)
        go_on.set()
        answers = await asyncio.gather(*asked)
        await batcher.close()
        return answers

    assert asyncio.run(ask()) == [2 * i for i in range(150)]
    assert sum(sizes) == 150
    assert len(sizes) <= 4
    assert max(sizes) == 64


def test_too_many_questions_are_refused_at_once():
    go_on = threading.Event()

    async def ask():
        batcher = Batcher(lambda questions: [go_on.wait(10) for _ in questions], 3)
        first = asyncio.create_task(batcher.ask(0))
        await asyncio.sleep(0.05)
        rest = [asyncio.create_task(batcher.ask(i)) for i in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError):
            await batcher.ask(9)
        go_on.set()
        await asyncio.gather(first, *rest)
        await batcher.close()

    asyncio.run(ask())


def test_a_question_that_fails_fails_alone():
    def answer(questions):
        if "bad" in questions:
            raise ValueError("bad")
        return questions

    async def ask():
        batcher = Batcher(answer, 100)
        asked = [asyncio.create_task(batcher.ask(each)) for each in ("a", "bad", "b")]
        found = await asyncio.gather(*asked, return_exceptions=True)
        await batcher.close()
        return found

    first, error, last = asyncio.run(ask())
    assert (first, last) == ("a", "b")
    assert isinstance(error, ValueError)


def test_whoever_gave_up_does_not_disturb():
    go_on = threading.Event()

    async def ask():
        batcher = Batcher(lambda questions: [go_on.wait(10) for _ in questions], 10)
        first = asyncio.create_task(batcher.ask(0))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(batcher.ask(1))
        await asyncio.sleep(0)
        first.cancel()
        second.cancel()
        go_on.set()
        assert await batcher.ask(2)
        await batcher.close()

    asyncio.run(ask())


def test_rate():
    time = [0.0]
    limit = RateLimit(2.0, 3, clock=lambda: time[0])
    assert [limit.take("a") for _ in range(4)] == [0, 0, 0, 1]
    assert limit.take("b") == 0
    time[0] = 0.5
    assert limit.take("a") == 0
    assert limit.take("a") == 1
    time[0] = 100.0
    assert [limit.take("a") for _ in range(4)] == [0, 0, 0, 1]
    assert RateLimit(0.0, 1).take("a") == 0


def test_rates_of_many_callers_need_little_memory():
    limit = RateLimit(1.0, 1, clock=lambda: 0.0)
    for i in range(10_050):
        limit.take(str(i))
    assert limit.take("10049") == 1
    assert limit.take("0") == 0  # forgotten


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("cat", ["cat"]),
        ("CAT", ["cat"]),
        ("felin", ["cat"]),
        ("elm", ["elm"]),
        ("élm tr", ["elm"]),
        ("tree elm", ["elm"]),
        ("do", ["dog"]),
        ("s", ["cow", "dog", "fir", "oak", "plant", "animal", "elm", "cat"]),
        ("zebra", []),
        ("   ", []),
    ],
)
def test_search(query, found):
    assert LabelSearch(TAXONOMY).find(query, 10) == found


def test_search_finds_synonyms_and_ranks_whole_names_first():
    search = LabelSearch(TAXONOMY, {"cow": ["Cattle"], "fir": ["Cattle tree"]})
    assert search.find("cattle", 10) == ["cow", "fir"]
    assert search.find("cattle", 1) == ["cow"]


def test_folding():
    assert folded("  ÉCOLE  Straße ﬁn ") == "ecole strasse fin"


def test_languages():
    assert detect_language("", ["en"]) == [(None, 1.0)]
    assert detect_language("Kissa on katolla ja se ei ole koira", ["sv", "fi"])[0][0] == "fi"
    with pytest.raises(ParameterError):
        detect_language("x", ["en", "xx"])


@pytest.mark.parametrize(("n_right", "n"), [(0, 5), (5, 5), (7, 20), (190, 200), (1, 1)])
def test_wilson_interval(n_right, n):
    found = estimate(n_right, n)
    interval = binomtest(n_right, n).proportion_ci(method="wilson")
    assert found.low == pytest.approx(interval.low)
    assert found.high == pytest.approx(interval.high)
    assert found.share == n_right / n


def test_nothing_is_known_without_a_sample():
    assert estimate(0, 0) == (0, 0, None, 0.0, 1.0)


def test_settings_go_to_other_processes():
    settings = ServiceSettings(
        models={"a": "b"}, hosts=("x",), needs_token=True, limits=ServiceLimits(rate=3.0)
    )
    assert ServiceSettings.from_json(settings.to_json()) == settings


@pytest.mark.parametrize("project", ["", "a/b", "..", "a b", "x" * 65, "é"])
def test_project_ids(project):
    check_project_id("a-B_1.2")
    with pytest.raises(ParameterError):
        check_project_id(project)


def test_problems_have_titles():
    assert ProblemError(404, "x").title == "Not Found"


def test_search_in_one_text_finds_what_a_look_at_every_node_finds():
    rng = random.Random(0)
    syllables = ["ab", "ba", "o", "ell", "x", "y-z"]

    def word():
        return "".join(rng.choices(syllables, k=rng.randint(1, 3)))

    edges = [(f"n{i // 10}", f"n{i // 10}.{i}") for i in range(300)]
    names = {node: f"{word()} {word().title()} {word()}" for _, node in edges}
    search = LabelSearch(Taxonomy.from_edges(edges, names=names), {"n1.11": ["Abba", "Ell o"]})
    for _ in range(200):
        wanted = " ".join(word()[: rng.randint(1, 4)] for _ in range(rng.randint(1, 2)))
        words = wanted.split()
        ranked = [(label_search.rank(each, wanted, words), each) for each in search.nodes]
        best = sorted(
            (rank, len(each.names[0]), each.depth, each.node)
            for rank, each in ranked
            if rank < label_search.NOT_FOUND
        )
        assert search.find(wanted, 10) == [node for *_, node in best[:10]]


@pytest.mark.parametrize("is_served", [True, False])
def test_only_models_that_answer_requests_compile_their_loops_at_once(
    shared, is_served, monkeypatch
):
    spared = []
    offers = LiveModel.offers

    def asked(model, texts):
        spared.append(spares())
        return offers(model, texts)

    monkeypatch.setattr(LiveModel, "offers", asked)
    LiveModel(shared / "beings", is_served=is_served)
    assert spared == [not is_served]
    assert spares()
