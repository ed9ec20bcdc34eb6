"""Hostile documents and names change nothing on the screen, and everybody can use it."""

from __future__ import annotations

import csv

import pytest

from taxonomist import Taxonomy, TextClassifier
from taxonomist.datasets.columns import Columns
from taxonomist.datasets.table_file import TableSource
from taxonomist.workflow import read_labelled, train
from tests.unit.server.processes import running
from tests.unit.server.screens import Person, browsing
from tests.unit.server.skips import axe_script

SCRIPT = "<script>document.title='broken'</script>"
IMAGE = "<img src=x onerror=\"document.title='broken'\">"
BACKWARDS = "\u202e\u2067evil gnitirw\u200f"
LONG = "n" * 299 + "!"
NAMES = {
    "a": SCRIPT,
    "b": IMAGE,
    "c": BACKWARDS,
    "d": LONG,
    "top": f"Top {IMAGE}",
    "end": "</main>",
}
EDGES = [("top", "a"), ("top", "b"), ("end", "c"), ("end", "d")]
WORDS = {"a": "alpha ape", "b": "beta bee", "c": "gamma cat", "d": "delta dog"}
IN_ORDER = """() => {
    const [name, word] = document.querySelectorAll(".why > *");
    if (!name?.title || !word) return false;
    if (!document.querySelector(".confirm strong").textContent.startsWith(name.title)) return false;
    const [a, b] = [[...name.getClientRects()].at(-1), word.getClientRects()[0]];
    return b.top >= a.bottom - 2 || b.left >= a.right;
}"""
"""Whether the first word of the reasons comes after the name of the category, also to the eye."""
VIEWS = ("file", "queue", "try", "taxonomy/a", "quality", "disputes", "history")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Yield a server whose names and documents are not to be trusted."""
    folder = tmp_path_factory.mktemp("hostile")
    table = folder / "rows.csv"
    with table.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["text", "label"])
        rows.writerows([f"{WORDS[label]} {i}", label] for i in range(12) for label in WORDS)
    columns = Columns(text="text", labels="label")
    taxonomy = Taxonomy.from_edges(EDGES, names=NAMES)
    labelled = read_labelled(TableSource(str(table)), columns, taxonomy)
    classifier = TextClassifier(taxonomy, min_df=1, n_jobs=1)
    train(classifier, labelled, columns, test_size=0.25).classifier.save(folder / "evil")
    options = ["--random-share", "1", "--text-chars", "2000000"]
    with running([folder / "evil", *options], folder) as server:
        yield server


@pytest.fixture(scope="module")
def browser():
    with browsing() as found:
        yield found


def is_untouched(person):
    """Check that the page is as it was made, and no wider than the window."""
    page = person.page
    assert "broken" not in page.title()
    assert page.evaluate("document.scripts.length") == 1
    assert (
        page.evaluate("document.querySelectorAll('main img, main script, main main').length") == 0
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("getComputedStyle(document.body).direction") == "ltr"


def test_hostile_texts_and_names(hostile, browser):
    texts = [f"{SCRIPT} {IMAGE} {BACKWARDS} alpha ape", "gamma " * 180_000, f"delta dog {LONG * 9}"]
    given = [{"document_id": f"{SCRIPT}{i}", "text": text} for i, text in enumerate(texts)]
    project = "/v1/projects/evil"
    hostile.post(f"{project}/documents", {"documents": given})
    ann = Person(browser, hostile.url, project="evil")
    filed = []
    for _ in texts:
        ann.page.wait_for_selector(".suggestion")
        ann.page.wait_for_selector(".why mark")
        is_untouched(ann)
        ann.wait(IN_ORDER, seconds=30)  # a text of 1 MB has many words
        filed.append(ann.document)
        ann.decide("2")
    ann.settle()
    assert sorted(filed) == sorted(each["document_id"] for each in given)
    shown = {SCRIPT, IMAGE, LONG}
    for view in (*VIEWS, f"file/{filed[0].replace('<', '%3C').replace('/', '%2F')}"):
        ann.open(view)
        ann.page.wait_for_timeout(300)
        is_untouched(ann)
    ann.page.wait_for_selector(".suggestion")
    names = ann.page.locator(".suggestion-name").all_text_contents()
    assert all(any(name.startswith(each) for name in names) for each in shown)
    ann.page.set_viewport_size({"width": 390, "height": 800})
    is_untouched(ann)
    ann.close()


FOCUSED = """() => {
    const at = document.activeElement;
    const style = getComputedStyle(at.matches(".texts") ? at.closest(".card") : at);
    const accent = getComputedStyle(document.querySelector("a[aria-current]")).backgroundColor;
    return {
        name: at === document.body ? "" : at.outerHTML.slice(0, 90),
        isSeen: style.outlineStyle !== "none" || style.borderTopColor === accent,
    };
}"""


def test_tab_goes_everywhere_and_is_seen(hostile, browser):
    """No keyboard trap: from the document, Tab comes back to it through all that can be used."""
    texts = [{"text": f"alpha ape tab {i}"} for i in range(2)]
    hostile.post("/v1/projects/evil/documents", {"documents": texts})
    ann = Person(browser, hostile.url, project="evil", reduced_motion="reduce")
    ann.page.wait_for_selector(".why mark")
    start = ann.page.evaluate(FOCUSED)["name"]
    passed = []
    for _ in range(60):
        ann.press("Tab")
        found = ann.page.evaluate(FOCUSED)
        assert found["isSeen"] or not found["name"], found
        passed.append(found["name"])
        if found["name"] == start:
            break
    assert passed[-1] == start
    for part in ("suggestions", "confirm", "combobox", 'role="tree"', "History", "Skip"):
        assert any(part in name for name in passed), part
    moving = "[...document.querySelectorAll('*')].filter(e => "
    moving += "getComputedStyle(e).transitionDuration !== '0s').length"
    assert ann.page.evaluate(moving) == 0
    ann.close()


def pointed(person, selector):
    """Return the element that is active in a list or a tree, as a screen reader knows it."""
    return person.page.evaluate(
        """selector => {
            const list = document.querySelector(selector);
            const at = document.getElementById(list.getAttribute("aria-activedescendant"));
            const of = name => at.getAttribute(`aria-${name}`);
            return { role: at.role, level: of("level"), expanded: of("expanded"),
                selected: of("selected"), place: `${of("posinset")} of ${of("setsize")}` };
        }""",
        selector,
    )


def test_trees_and_lists_follow_their_patterns(hostile, browser):
    hostile.post("/v1/projects/evil/documents", {"documents": [{"text": "alpha ape aria"}]})
    ann = Person(browser, hostile.url, "taxonomy", project="evil")
    ann.page.get_by_role("tree").focus()
    ann.page.wait_for_selector(".tree-row.active")
    ann.press("Home")
    top = {"role": "treeitem", "level": "1", "selected": "true", "place": "1 of 2"}
    assert pointed(ann, "[role=tree]") == {**top, "expanded": "false"}
    ann.press("ArrowRight")
    ann.page.wait_for_selector("[aria-level='2']")
    assert pointed(ann, "[role=tree]") == {**top, "expanded": "true"}
    ann.press("ArrowRight", "ArrowDown")
    found = pointed(ann, "[role=tree]")
    assert (found["level"], found["expanded"], found["place"]) == ("2", None, "2 of 2")
    ann.press("ArrowLeft")
    assert pointed(ann, "[role=tree]") == {**top, "expanded": "true"}
    ann.press("ArrowLeft", "End")
    assert pointed(ann, "[role=tree]")["place"] == "2 of 2"
    ann.open("file")
    ann.page.wait_for_selector(".suggestion")
    ann.page.get_by_role("listbox").focus()
    assert pointed(ann, ".suggestions")["selected"] == "true"
    ann.press("ArrowDown")
    assert pointed(ann, ".suggestions")["role"] == "option"
    assert pointed(ann, ".suggestions")["selected"] == "false"
    ann.close()


def serious_of(person, script):
    """Return what keeps people from using the page, by the name of the rule."""
    person.page.evaluate(script)
    found = person.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return {
        each["id"]: [node["html"][:200] for node in each["nodes"][:3]]
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    }


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_nothing_serious_for_axe(hostile, browser, scheme):
    script = axe_script()
    project = "/v1/projects/evil"
    texts = [{"text": f"alpha ape {i}"} for i in range(4)]
    (first, *_) = hostile.post(f"{project}/documents", {"documents": texts})["document_ids"]
    body = {"document_id": first, "action": "correct", "labels": ["d"]}
    hostile.post(f"{project}/decisions", body)
    ann = Person(browser, hostile.url, project="evil", color_scheme=scheme, bypass_csp=True)
    serious = {}
    for view in VIEWS:
        ann.open(view)
        ann.page.wait_for_timeout(400)
        serious[view] = serious_of(ann, script)
    assert not any(serious.values()), serious
    ann.close()


def test_nothing_serious_in_what_opens(hostile, browser):
    """The states between: a search, a restricted branch, a dialog, a message, a sample."""
    script = axe_script()
    texts = [{"text": f"beta bee {i}"} for i in range(3)]
    hostile.post("/v1/projects/evil/documents", {"documents": texts})
    ann = Person(browser, hostile.url, project="evil", bypass_csp=True)
    serious = {}

    def look(name, selector):
        ann.page.wait_for_selector(selector)
        ann.page.wait_for_timeout(150)
        serious[name] = serious_of(ann, script)

    ann.page.wait_for_selector(".why mark")
    ann.press("/")
    ann.page.keyboard.type("e")
    look("search", ".hit")
    ann.press("Escape", "b")
    look("branch", ".narrow:not([hidden])")
    ann.press("Escape", "l")
    look("level", ".narrow .button")
    ann.press("Escape", "u")
    look("message", ".notice")
    ann.press("?")
    look("keys", "dialog[open]")
    ann.press("Escape")
    ann.open("queue")
    ann.page.get_by_text("Accept many at once").click()
    ann.page.fill("#bulk-least", "50")
    ann.page.get_by_role("button", name="Draw a sample").click()
    look("sample", ".bulk-sample p")
    ann.open("try")
    ann.page.get_by_label("text", exact=True).fill("alpha ape")
    ann.press("Control+Enter")
    look("answer", ".try mark")
    assert not any(serious.values()), serious
    ann.close()
