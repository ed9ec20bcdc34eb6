"""A person at the screen: a browser that presses keys and tells what it shows."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager

from tests.unit.server.corpus import WORDS, text_of
from tests.unit.server.skips import browser_program, playwright_driver

WAIT_MS = 15_000
PROJECT = "beings"


def sure_text(label: str, i: int) -> str:
    """Return a text that the model is sure about."""
    return f"{WORDS[label]} {WORDS[label]} number {i}"


def mixed_texts(n: int) -> list[str]:
    rng = random.Random(1)
    labels = list(WORDS)
    return [f"{text_of(labels[i % 6], rng)} number {i}" for i in range(n)]


def add_documents(server, texts, project=PROJECT, prefix="d"):
    documents = [{"document_id": f"{prefix}{i}", "text": text} for i, text in enumerate(texts)]
    for first in range(0, len(documents), 50):
        path = f"/v1/projects/{project}/documents"
        server.post(path, {"documents": documents[first : first + 50]})


def events_of(server, project=PROJECT):
    """Return the events of a project: document, action, labels."""
    found = server.get(f"/v1/projects/{project}/decisions?limit=1000")["events"]
    return [(each["document_id"], each["action"], each["labels"]) for each in found]


@contextmanager
def browsing():
    """Yield a browser."""
    with playwright_driver()() as driver:
        browser = driver.chromium.launch(
            executable_path=browser_program(), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            yield browser
        finally:
            browser.close()


class Person:
    """Somebody at the screen of a server, with a browser profile of their own."""

    def __init__(self, browser, url, view="file", project=PROJECT, token=None, **options):
        self._context = browser.new_context(
            viewport={"width": 1200, "height": 800}, locale="en-GB", **options
        )
        self.page = self._context.new_page()
        self.page.set_default_timeout(WAIT_MS)
        self.errors = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", lambda dialog: self.errors.append(dialog.message))
        self._url = url
        self.project = project
        self.open(view, token)

    def open(self, view, token=None):
        self.page.goto(f"{self._url}/#/{self.project}/{view}")
        if token:
            self.page.get_by_label("Token").fill(token)
            self.page.keyboard.press("Enter")
        self.page.wait_for_selector("#main[data-view]")

    def reload(self):
        self.page.reload()
        self.page.wait_for_selector("#main[data-view]")

    @property
    def document(self):
        """The id of the document in view; waits until there is one."""
        self.page.wait_for_selector(".file[data-document]:not([data-document=''])")
        return self.page.get_attribute(".file", "data-document")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def decide(self, *keys):
        """Press keys, wait for the next document, and return the one that was decided about."""
        before = self.document
        self.press(*keys)
        self.wait("id => document.querySelector('.file').dataset.document !== id", before)
        return before

    def wait(self, condition, argument=None, seconds=WAIT_MS / 1000):
        """Wait until a function is true; the page's policy forbids Playwright's own way."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(condition, argument):
            assert time.monotonic() < end, condition
            self.page.wait_for_timeout(20)

    def slow_down(self, milliseconds, only=""):
        """Let every answer of the service come later, or only those of some addresses."""
        self.page.evaluate(
            """([wait, only]) => { const ask = window.fetch; window.fetch = async (...all) => {
                if (String(all[0]).includes(only)) await new Promise((go) => setTimeout(go, wait));
                return ask(...all); }; }""",
            [milliseconds, only],
        )

    def offline(self, is_offline):
        """Cut the browser off, or let it reach the service again."""
        self._context.set_offline(is_offline)

    def choose(self, text):
        """Wait until something is chosen."""
        self.wait("text => document.querySelector('.chosen-now').textContent.includes(text)", text)

    def settle(self):
        """Wait until everything is stored."""
        self.wait("() => !document.getElementById('state').textContent")

    def see(self, text):
        self.page.get_by_text(text).first.wait_for()

    def close(self):
        assert not self.errors, self.errors
        # A page that is left gives back what it had open.
        self.page.goto("about:blank")
        self._context.close()
