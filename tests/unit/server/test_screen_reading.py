"""What people see at a glance: the last decision, the reasons, and all columns on a phone."""

from __future__ import annotations

import pytest

from tests.unit.server.corpus import NAMES
from tests.unit.server.processes import running
from tests.unit.server.screens import PROJECT, Person, add_documents, browsing, sure_text

PHONE = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def screen(shared, tmp_path_factory):
    """Yield a server where documents wait."""
    folder = tmp_path_factory.mktemp("reading")
    with running([f"{PROJECT}={shared / 'beings'}", "--random-share", "0"], folder) as found:
        add_documents(found, [sure_text("dog", i) for i in range(40)])
        yield found


@pytest.fixture(scope="module")
def browser():
    with browsing() as found:
        yield found


def test_the_last_decision_is_told_until_it_is_undone(screen, browser):
    ann = Person(browser, screen.url)
    assert not ann.page.is_visible(".last-filed")
    first = ann.decide("Enter")
    assert ann.page.text_content(".last-filed") == f"{first} filed under {NAMES['dog']}"
    second = ann.decide("s")
    assert ann.page.text_content(".last-filed") == f"{second}: skipped"
    ann.decide("u")
    assert not ann.page.is_visible(".last-filed")
    ann.settle()
    ann.close()


def test_a_decision_that_is_refused_is_not_told_as_the_last(screen, browser):
    ann = Person(browser, screen.url)
    body = {"document_id": ann.document, "action": "reject"}
    screen.post(f"/v1/projects/{PROJECT}/decisions", body)
    ann.decide("Enter")
    ann.see("was not stored")
    ann.wait("() => document.querySelector('.last-filed').hidden")
    notice = ann.page.locator(".notice").bounding_box()
    commands = ann.page.locator(".commands").bounding_box()
    assert notice["x"] + notice["width"] <= commands["x"]
    ann.close()


def test_a_phone_shows_every_column_of_the_history(screen, browser):
    ann = Person(browser, screen.url)
    ann.decide("Enter")
    ann.settle()
    ann.page.set_viewport_size(PHONE)
    ann.open("history")
    ann.page.wait_for_selector("td .button")
    for cell in ann.page.locator("tr:has(.button)").first.locator("td").all():
        box = cell.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
        assert box["height"] > 0
    ann.close()


def test_try_it_shows_the_reasons_below_few_categories(screen, browser):
    ann = Person(browser, screen.url, "try")
    ann.page.get_by_label("text").fill(sure_text("dog", 7))
    ann.press("Control+Enter")
    ann.page.wait_for_selector(".try mark.for")
    chances = ann.page.locator(".try .chance").all_text_contents()
    assert len(chances) == 3
    assert chances[-1] == "< 1%"
    ann.close()


def test_the_tree_beside_a_document_has_probabilities_only(screen, browser):
    ann = Person(browser, screen.url)
    ann.decide("Enter")
    ann.settle()
    ann.reload()
    ann.page.wait_for_selector(".tree-chance")
    assert ann.page.locator(".tree-count").count() == 0
    ann.open("taxonomy")
    ann.page.wait_for_selector(".tree-count")
    ann.close()
