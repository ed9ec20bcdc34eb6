"""People file documents in a browser, and the store holds exactly what they did."""

from __future__ import annotations

import signal

import pytest

from tests.unit.server.conftest import make_tokens
from tests.unit.server.corpus import NAMES, WORDS
from tests.unit.server.processes import RunningServer, running
from tests.unit.server.screens import (
    PROJECT,
    Person,
    add_documents,
    browsing,
    events_of,
    mixed_texts,
    sure_text,
)
from tests.waiting import wait_for


@pytest.fixture(scope="module")
def browser():
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def screen(shared, tmp_path_factory):
    """Yield a server of two projects; each test adds its own documents."""
    arguments = [f"{PROJECT}={shared / 'beings'}", f"sets={shared / 'sets'}"]
    folder = tmp_path_factory.mktemp("screen")
    with running([*arguments, "--data", f"{PROJECT}={shared / 'beings.csv'}"], folder) as found:
        yield found


@pytest.fixture
def person(browser, screen):
    people = []

    def sit_down(view="file", **options):
        people.append(Person(browser, screen.url, view, **options))
        return people[-1]

    yield sit_down
    for each in people:
        each.close()


def offered(server, document):
    return server.get(f"/v1/projects/{PROJECT}/documents/{document}")["offer"]


def other_than(label):
    return next(node for node in ("cat", "dog", "cow") if node != label)


def test_ten_documents_by_keys_only(screen, person):
    add_documents(screen, mixed_texts(16))
    ann = person()
    before, done = len(events_of(screen)), []
    for _ in range(3):
        document = ann.decide("Enter")
        done.append((document, "accept", offered(screen, document)["labels"]))
    for _ in range(2):
        document = ann.decide("1")
        done.append((document, *decision(screen, document, 0)))
    document = ann.decide("2")
    done.append((document, *decision(screen, document, 1)))

    # By search: a word of a name, Enter to choose, Enter to confirm.
    target = other_than(offered(screen, ann.document)["labels"][0])
    ann.press("/")
    ann.page.keyboard.type(NAMES[target][:4])
    ann.press("Enter")
    ann.choose(NAMES[target])
    done.append((ann.decide("Enter"), "correct", [target]))

    # Through the tree: to its first row, open it, to the child, confirm.
    ann.page.wait_for_selector(".tree-row.active")
    ann.page.focus(".tree")
    ann.press("Home")
    ann.choose(NAMES["animal"])
    while ann.page.get_attribute(".tree-row.active", "aria-expanded") != "true":
        ann.press("ArrowRight")
    ann.page.wait_for_selector(".tree-row[aria-level='2']")
    ann.press("ArrowRight")
    ann.choose(NAMES["cat"])
    document = ann.document
    is_same = offered(screen, document)["labels"] == ["cat"]
    ann.decide("Enter")
    done.append((document, "accept" if is_same else "correct", ["cat"]))

    # Undo, and decide again.
    first = ann.decide("Enter")
    done.append((first, "accept", offered(screen, first)["labels"]))
    ann.settle()
    ann.press("u")
    ann.wait("id => document.querySelector('.file').dataset.document === id", first)
    done.append((first, "undo", []))
    assert ann.decide("s") == first
    done.append((first, "skip", []))
    document = ann.decide("r")
    done.append((document, "reject", []))
    ann.settle()
    assert events_of(screen)[before:] == done


def decision(server, document, place):
    """Return the decision that choosing a suggestion is."""
    offer = offered(server, document)
    chosen = offer["alternatives"][place]["label"]
    return "accept" if offer["labels"] == [chosen] else "correct", [chosen]


def test_branch_level_and_inner_nodes(screen, person):
    add_documents(screen, [f"leaves seeds common word {i}" for i in range(5)], prefix="vague")
    ann = person()
    before = len(events_of(screen))

    # Restrict to the branch that the model does not believe in.
    best = offered(screen, ann.document)["branch"]
    other = "plant" if best == "animal" else "animal"
    ann.page.wait_for_selector(".tree-row.active")
    ann.page.locator(".tree-row", has_text=NAMES[other]).first.click()
    ann.choose(NAMES[other])
    ann.press("b")
    ann.see(f"Only within {NAMES[other]}.")
    branch = ann.decide("1")

    # At level 1: an inner node.
    ann.press("l", "1")
    ann.see("At level 1")
    level = ann.decide("Enter")

    # Too vague: the deepest node that is sure, or none.
    ann.press("v")
    ann.page.wait_for_selector(".narrow:not([hidden])")
    chosen = ann.page.text_content(".chosen-now")
    vague = ann.decide("Enter")
    ann.settle()
    found = events_of(screen)[before:]
    assert [(each[0], each[1]) for each in found[:2]] == [(branch, "correct"), (level, "correct")]
    path = {"cat", "dog", "cow"} if other == "animal" else {"oak", "fir", "elm"}
    assert found[0][2][0] in path
    assert found[1][2][0] in ("animal", "plant")
    assert found[2][0] == vague
    assert (found[2][1] == "too_vague") == ("Too vague" in chosen)


def test_keys_wait_for_the_answers_they_act_on(screen, person):
    add_documents(screen, [f"{sure_text('elm', i)} common" for i in range(9)], prefix="keys")
    ann = person()
    before, done = len(events_of(screen)), []

    def waits(*keys):
        document = ann.document
        ann.press(*keys)
        wait_for(lambda: len(events_of(screen)) > before + len(done))
        done.append(events_of(screen)[-1])
        assert done[-1][0] == document
        ann.wait("id => document.querySelector('.file').dataset.document !== id", document)
        return done[-1][2]

    ann.slow_down(150)
    assert waits("l", "1", "Enter") == ["plant"]
    # The tree has neither shown the offer nor loaded the branch of the animals yet.
    ann.page.focus(".tree")
    assert waits("Home", "ArrowLeft", "ArrowRight", "ArrowDown", "Enter") == ["cat"]
    ann.press("/")
    ann.page.keyboard.type(NAMES["cow"])
    assert waits("Enter", "Enter") == ["cow"]
    ann.page.get_by_role("button", name="Undo").click()
    ann.wait(f"() => document.querySelector('.file').dataset.document === '{done[-1][0]}'")
    wait_for(lambda: events_of(screen)[-1][1] == "undo")
    done.append(events_of(screen)[-1])
    # The button that was clicked last is not pressed again, and a key held down decides once.
    assert waits("Enter") == offered(screen, done[-1][0])["labels"]
    ann.page.keyboard.down("s")
    ann.page.keyboard.down("s")
    ann.page.keyboard.up("s")
    ann.settle()
    assert [action for _, action, _ in events_of(screen)[before + len(done) :]] == ["skip"]
    # A document that is not in view yet is not decided about.
    ann.slow_down(800)
    ann.page.evaluate("location.hash = '#/beings/file/keys0'")
    ann.wait("() => !document.querySelector('.file').dataset.document")
    ann.press("Enter")
    ann.see("still on its way")
    assert ann.document == "keys0"
    assert len(events_of(screen)) == before + len(done) + 1


def test_buttons_do_what_keys_do(screen, person):
    add_documents(screen, [sure_text("oak", i) for i in range(3)], prefix="mouse")
    ann = person()
    before = len(events_of(screen))
    button = ann.page.locator(".file").get_by_role("button", name="File under").first
    button.wait_for()
    best = offered(screen, ann.document)["branch"]
    ann.page.locator(".commands").get_by_role("button", name="Level").click()
    ann.page.get_by_role("button", name="1", exact=True).click()
    ann.choose(f"File under {NAMES[best]}")
    ann.page.get_by_role("button", name="Back").click()
    ann.page.locator(".commands").get_by_role("button", name="Branch").click()
    ann.see(f"Only within {NAMES[best]}.")
    names = ann.page.locator(".suggestion .path").all_text_contents()
    assert names
    assert all(NAMES[best] in name for name in names)
    document = ann.document
    button.click()
    ann.settle()
    wait_for(lambda: len(events_of(screen)) > before)
    assert events_of(screen)[-1][0] == document


def test_offline_for_a_moment(screen, person):
    add_documents(screen, [sure_text(label, 70) for label in NAMES if label in WORDS], prefix="off")
    ann = person()
    before = len(events_of(screen))
    ann.page.wait_for_selector(".why mark")
    ann.page.wait_for_timeout(300)
    ann.offline(True)
    done = [ann.decide("Enter"), ann.decide("2")]
    ann.see("2 decisions kept here")
    ann.page.wait_for_timeout(700)
    assert not ann.page.locator(".notice").all_text_contents()
    ann.offline(False)
    ann.settle()
    assert [document for document, *_ in events_of(screen)[before:]] == done
    # What was not there comes: the place in the tree, and the reasons.
    label = offered(screen, ann.document)["labels"][0]
    ann.wait("() => document.querySelector('.tree-row.active.chosen')")
    assert NAMES[label] in ann.page.text_content(".tree-row.active")
    ann.page.wait_for_selector(".why mark")
    # It is said also if nothing waits to be sent.
    ann.offline(True)
    ann.press("v")
    ann.wait("() => document.getElementById('state').textContent === 'Offline'")
    ann.offline(False)
    ann.settle()


def test_nothing_to_file(person):
    ann = person("branch/nowhere")
    ann.see("Nothing waits.")
    ann.press("Enter")
    ann.open("file/no%20such")
    ann.see("There is no such document.")
    ann.press("Enter")
    ann.page.get_by_role("link", name="File the next one").click()
    assert ann.document != "no such"


REASONS = """async () => {
    const { Reasons } = await import("/static/parts/reasons.js");
    const found = { category: "cat", probability: 0.5, spans: [], text: "", levels: [
        { node: "cat", name: "Cats", words: [{ word: "purrs", value: 1 }] },
        { node: "pet", name: "Pets", words: [{ word: "barks", value: -1 }] }] };
    const reasons = new Reasons({ explain: async () => found }, { mark: () => {} });
    await reasons.show({}, { label: "cat", name: "Cats", path: [], path_names: [] });
    return reasons.element.textContent;
}"""


def test_reasons_name_their_category(person):
    """In a graph, the last level of an explanation may be another parent."""
    assert person("try").page.evaluate(REASONS) == "For Cats (50%): purrs Against: barks"


def test_filing_one_branch(screen, person):
    add_documents(screen, [sure_text("oak", i) for i in range(3)], prefix="oaks")
    ann = person("queue")
    ann.page.select_option("select[aria-label=Branch]", "plant")
    ann.wait("() => document.querySelector('.queue .primary').hash.endsWith('branch/plant')")
    ann.page.get_by_role("link", name="Start filing").click()
    ann.see("only Plants")
    for _ in range(3):
        assert offered(screen, ann.decide("s"))["branch"] == "plant"


def test_label_sets_are_chips(screen, person):
    add_documents(screen, [f"acorns leaves moo farm milk {i}" for i in range(3)], "sets")
    ann = person(project="sets")
    document = ann.document
    before = set(offered_of(screen, document))
    labels = [each["label"] for each in alternatives(screen, document)[:3]]
    ann.press("1", "2", "3")
    wanted = before ^ set(labels)
    ann.wait("n => document.querySelectorAll('.chips .chip').length === n", len(wanted))
    ann.decide("Enter")
    ann.settle()
    (event,) = events_of(screen, "sets")
    assert (event[0], set(event[2])) == (document, wanted)


def offered_of(server, document):
    return server.get(f"/v1/projects/sets/documents/{document}")["offer"]["labels"]


def alternatives(server, document):
    return server.get(f"/v1/projects/sets/documents/{document}")["offer"]["alternatives"]


def test_two_people_on_one_document(screen, person):
    add_documents(screen, [f"leash cones {i}" for i in range(5)], prefix="two")
    ann, bob = person(), person()
    document = ann.document
    # Bob is given another one; if he opens hers, he is told.
    assert bob.document != document
    queue = f"/v1/projects/{PROJECT}/queue?limit=200"
    assert document in waiting_ids(screen.get(queue))
    assert document not in waiting_ids(screen.get(f"{queue}&holder=cid"))
    bob.open(f"file/{document}")
    bob.see("Somebody else has this document open")
    # Bob has not heard of Ann's decision when he decides.
    bob.page.route("**/decisions?*", lambda route: route.abort())
    ann.decide("Enter")
    ann.settle()
    before = events_of(screen)
    bob.decide("2")
    bob.see("was not stored")
    assert events_of(screen) == before
    bob.page.get_by_role("button", name="Look again").click()
    bob.wait("id => document.querySelector('.file').dataset.document === id", document)
    bob.see("accepted before")

    # Ann hears of Bob's decision while she looks at the document.
    ann.open(f"file/{document}")
    ann.see("accepted before")
    ann.page.wait_for_timeout(300)
    bob.decide("2")
    bob.settle()
    ann.see("decided about this document just now")
    held = bob.document
    bob.open("queue")
    wait_for(lambda: held in waiting_ids(screen.get(f"{queue}&holder=cid")))


def waiting_ids(page):
    return [each["document_id"] for each in page["documents"]]


def test_a_server_that_restarts_between_two_keys(browser, shared, tmp_path):
    """Ann signs in with her token, and stays signed in."""
    arguments = [shared / "beings", "--folder", tmp_path / "state"]
    tokens = make_tokens(f"sqlite:///{tmp_path / 'state' / 'decisions.db'}")
    server = RunningServer(arguments, tmp_path / "log").wait()
    server.headers = tokens["decide"]
    try:
        add_documents(server, mixed_texts(6))
        token = tokens["decide"]["Authorization"].removeprefix("Bearer ")
        ann = Person(browser, server.url, token=token)
        assert token not in ann.page.evaluate("document.cookie + JSON.stringify(localStorage)")
        done = [ann.decide("Enter")]
        ann.settle()
        server.stop(signal.SIGKILL)
        done += [ann.decide("Enter"), ann.decide("2")]
        ann.see("2 decisions kept here")
        # Even a page that is loaded again loses nothing.
        server = RunningServer(arguments, tmp_path / "log2", port=server.port)
        server.wait().headers = tokens["decide"]
        ann.reload()
        ann.settle()
        assert [document for document, *_ in events_of(server)] == done
        ann.page.get_by_role("button", name="Sign out").click()
        ann.page.get_by_label("Token").wait_for()
        ann.close()
    finally:
        server.stop()


def test_many_at_once_after_a_sample(screen, person):
    texts = [sure_text("dog", i) for i in range(40)]
    add_documents(screen, texts, prefix="many")
    ann = person("queue")
    before = len(events_of(screen))
    ann.page.get_by_text("Accept many at once").click()
    ann.page.fill("#bulk-least", "60")
    ann.page.get_by_role("button", name="Draw a sample").click()
    ann.page.wait_for_selector(".bulk-sample li")
    for answer in ann.page.get_by_label("right", exact=True).all():
        answer.check()
    ann.page.get_by_role("button", name="Accept these and").click()
    ann.see("accepted besides the sample")
    found = events_of(screen)[before:]
    assert {action for _, action, _ in found} == {"accept"}
    documents = screen.get(f"/v1/projects/{PROJECT}/documents?limit=500")["documents"]
    unseen = [each for each in documents if each["document_id"].startswith("many")]
    assert all((each["state"] == "waiting") == each["is_random"] for each in unseen)
    ann.page.get_by_role("button", name="Undo all of them").click()
    ann.see("Undone.")
    assert sum(action == "undo" for _, action, _ in events_of(screen)) >= len(found) - 10


DROP = """([text, selector]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], "rows.csv"));
    const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
    document.querySelector(selector).dispatchEvent(event);
}"""


def test_history_shows_what_was_asked_last(screen, person):
    add_documents(screen, ["to be listed", "to be listed, too"], prefix="listed")
    for i, action in enumerate(("accept", "reject")):
        body = {"document_id": f"listed{i}", "action": action}
        screen.post(f"/v1/projects/{PROJECT}/decisions", body)
    ann = person("history")
    ann.page.wait_for_selector("td .button")
    ann.slow_down(400, "action=accept")
    for action in ("accept", "reject"):
        ann.page.select_option("select[aria-label=Action]", action)
    ann.page.wait_for_timeout(700)
    decisions = ann.page.locator("tbody td:nth-child(4)").all_text_contents()
    assert set(decisions) == {"rejected"}


def test_the_other_views(screen, person, tmp_path):
    """Try a file, look at a node, undo in the history."""
    ann = person("try")
    rows = ["id,text", 'a,"it barks, runs"', "b,milk grass moo", "=c,acorns leaves"]
    table = tmp_path / "rows.csv"
    table.write_text("\n".join(rows) + "\n")
    ann.page.set_input_files("#pick", table)
    ann.see("3 texts")
    with ann.page.expect_download() as download:
        ann.page.get_by_role("button", name="Save as CSV").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0] == "id,text,label,name,path,probability"
    assert lines[1].startswith('a,"it barks, runs",dog,Dogs,Animals > Dogs,')
    assert lines[3].startswith("'=c,acorns leaves,oak,")
    ann.page.evaluate(DROP, ["id,text\nx,moo\ny,bark\n", ".try-form"])
    ann.see("2 texts")
    ann.page.get_by_label("text").fill("it barks and runs")
    ann.press("Control+Enter")
    ann.page.wait_for_selector(".try mark.for")

    with table.open("a") as rows:
        rows.write("d,moo\n")
    ann.open("queue")
    ann.page.set_input_files("#pick", table)
    ann.see("4 documents added.")
    ann.page.fill("input[type=search]", "acorns leaves")
    ann.page.get_by_role("link", name="=c").wait_for()

    ann.open("taxonomy")
    ann.page.get_by_role("heading", name=NAMES["animal"]).wait_for()
    ann.wait("() => location.hash.endsWith('/taxonomy/animal')")
    ann.press("/")
    ann.page.keyboard.type("élm")
    ann.press("Enter")
    ann.page.get_by_role("heading", name=NAMES["elm"]).wait_for()
    ann.page.wait_for_selector(".details .words li")
    ann.press("ArrowLeft")
    ann.page.get_by_role("heading", name=NAMES["plant"]).wait_for()

    add_documents(screen, ["to be undone"], prefix="undone")
    body = {"document_id": "undone0", "action": "reject"}
    screen.post(f"/v1/projects/{PROJECT}/decisions", body)
    before = events_of(screen)
    ann.open("history")
    ann.page.get_by_role("button", name="Undo decision").first.click()
    ann.see("Undone.")
    after = events_of(screen)
    assert after[len(before) :] == [("undone0", "undo", [])]
    add_documents(screen, [sure_text("dog", 500)], prefix="doubted")
    body = {"document_id": "doubted0", "action": "correct", "labels": ["oak"]}
    screen.post(f"/v1/projects/{PROJECT}/decisions", body)
    ann.press("g", "d")
    ann.page.locator("li", has_text="doubted0").get_by_role("button", name="Check").click()
    ann.page.wait_for_selector(".claim")
    assert ann.document == "doubted0"
    ann.slow_down(150)
    ann.page.locator(".claim").get_by_role("button", name=NAMES["dog"]).click()
    ann.press("Enter")
    wait_for(lambda: events_of(screen)[-1] == ("doubted0", "accept", ["dog"]))
    ann.open("disputes")
    ann.page.get_by_role("heading", name="Disputes").wait_for()
    ann.press("?")
    ann.page.get_by_role("dialog").wait_for()
    ann.press("Escape")


@pytest.mark.slow
def test_retrain_and_roll_back(screen, person):
    ann = person("quality")
    first = screen.get(f"/v1/projects/{PROJECT}/models")["live"]
    ann.page.get_by_role("button", name="Retrain on all decisions").click()
    ann.page.wait_for_selector(".training progress")
    ann.page.get_by_text("Last training:").wait_for(timeout=120_000)
    job = screen.get(f"/v1/projects/{PROJECT}/retrain")["jobs"][-1]
    ann.see(job["result"]["version"])
    is_new_live = job["state"] == "live"
    button = "Roll back to this version" if is_new_live else "Let it go live"
    ann.page.get_by_role("button", name=button).click()
    ann.see("is live.")
    live = screen.get(f"/v1/projects/{PROJECT}/models")["live"]
    assert live == (first if is_new_live else job["result"]["version"])
    assert job["result"]["version"] != first
