"""The screen in a browser: how long people wait.

Command: python -m benchmarks screen
Two models, and a browser on the same machine. With 10,000 categories, ``first_view_ms`` is the time
from the request for the page to the first suggestions, and ``key_to_next_ms`` the time from a key
to the next document on the screen, for 60 documents filed with one key each. With 50,000 nodes,
``taxonomy_ms`` is the time to the first rows of the tree, ``tree_ms`` from a key to the children of
a node, ``node_ms`` to all that is known about a node, and ``search_ms`` to what was found, which
includes a wait of 60 ms for more keys. All are measured in the browser, several times, and medians
are recorded. The bars are 1,000 ms for the first view and 100 ms for a key.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.record import save
from benchmarks.synthetic_text import draw_words

N_ITEMS = 20_000
N_CHILDREN = 100
"""Below each of 100 nodes: 10,000 categories."""
SHAPE = (50, 20, 49)
"""Children on each level: 50,050 nodes."""
N_DOCUMENTS = 80
N_KEYS = 60
N_VIEWS = 5
BAR_VIEW_MS = 1_000.0
BAR_KEY_MS = 100.0
WATCH = """
window.seen = [];
let pressed = 0;
addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
window.timed = (selector, name) => new Promise((done) => {
  const look = () => {
    if (document.querySelector(selector)) done(performance.now() - (name ? pressed : 0));
    else requestAnimationFrame(look);
  };
  look();
});
new MutationObserver((changes) => {
  for (const change of changes) {
    if (change.attributeName !== "data-document") continue;
    const start = pressed;
    requestAnimationFrame(() => setTimeout(() => window.seen.push(performance.now() - start)));
  }
}).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-document"] });
"""
"""Times from a key to the frame that shows another document, and until something is there."""


def texts_of(words: Any) -> list[str]:
    """Return words as texts."""
    return [" ".join(f"w{code}" for code in row) for row in words]


def make_model(folder: Path) -> list[str]:
    """Train a model of 10,000 categories, and return texts that it has not seen."""
    from taxonomist import TextClassifier

    words, y, taxonomy = draw_words(N_ITEMS, n_children=N_CHILDREN)
    classifier = TextClassifier(taxonomy, model="path", vectors="off", n_jobs=1)
    classifier.fit(texts_of(words), y).save(folder)
    return texts_of(draw_words(N_DOCUMENTS, seed=7, n_children=N_CHILDREN)[0])


def make_huge(folder: Path) -> None:
    """Train a model with a taxonomy of 50,000 nodes, most of them without documents."""
    from taxonomist import Taxonomy, TextClassifier

    rng = np.random.default_rng(0)
    words = np.array([f"w{code}" for code in range(6_000)])
    edges = [(f"{a:02d}", f"{a:02d}.{b:02d}") for a, b in np.ndindex(SHAPE[:2])]
    edges += [(f"{a:02d}.{b:02d}", f"{a:02d}.{b:02d}.{c:02d}") for a, b, c in np.ndindex(SHAPE)]
    names = {child: " ".join(rng.choice(words, 3)) for _, child in edges}
    taxonomy = Taxonomy.from_edges(edges, names=names)
    y = rng.choice(taxonomy.leaves[:300], size=1_500)
    texts = [f"{names[leaf]} {' '.join(rng.choice(words, 10))}" for leaf in y]
    TextClassifier(taxonomy, model="path", vectors="off", n_jobs=1).fit(texts, y).save(folder)


class Server:
    """A server in a process of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        models = [f"{name}={folder / name}" for name in ("large", "huge")]
        command = [sys.executable, "-m", "taxonomist", "serve", *models]
        options = ["--port", str(port), "--folder", str(folder / "state")]
        self._process = subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{self.url}/ready") as answer:
                    answer.read()
                    break
            except OSError:
                time.sleep(0.2)

    def add(self, texts: list[str]) -> None:
        """Put documents into the queue."""
        body = json.dumps({"documents": [{"text": text} for text in texts]}).encode()
        headers = {"Content-Type": "application/json"}
        path = f"{self.url}/v1/projects/large/documents"
        with urllib.request.urlopen(urllib.request.Request(path, body, headers)) as answer:
            answer.read()

    def stop(self) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait(60)


def first_views(browser: Any, url: str) -> list[float]:
    """Return the times to the first suggestions, each in a browser that has seen nothing."""
    found = []
    for _ in range(N_VIEWS):
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(f"{url}/#/large/file", wait_until="commit")
        found.append(page.evaluate("timed('.suggestion', '')"))
        context.close()
    return found


def keys(page: Any, url: str) -> list[float]:
    """Return the times from a key to the next document."""
    page.goto(f"{url}/#/large/file")
    page.wait_for_selector(".why mark")
    page.evaluate("seen.length = 0")
    for i in range(N_KEYS):
        page.keyboard.press("Enter" if i % 2 else "2")
        # People look at a document for a moment, at least.
        page.wait_for_timeout(150)
    return list(page.evaluate("seen"))


def taxonomy_view(page: Any, url: str) -> dict[str, list[float]]:
    """Return the times in the view of a large taxonomy."""
    found: dict[str, list[float]] = {"taxonomy": [], "tree": [], "node": [], "search": []}
    for digit in range(N_VIEWS):
        page.goto("about:blank")
        page.goto(f"{url}/#/huge/taxonomy", wait_until="commit")
        found["taxonomy"].append(page.evaluate("timed('.tree-row .tree-name', '')"))
        page.focus(".tree")
        page.keyboard.press("Home")
        found["node"].append(page.evaluate("timed('.details h2', 'key')"))
        page.keyboard.press("ArrowRight")
        found["tree"].append(page.evaluate("timed(\"[aria-level='2'] .code\", 'key')"))
        page.keyboard.press("/")
        page.keyboard.type(f"w{digit + 1}")
        found["search"].append(page.evaluate("timed('.hit', 'key')"))
    return found


def run() -> None:
    """Measure and record."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        print("No Chromium on this machine.")
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        texts = make_model(folder / "large")
        make_huge(folder / "huge")
        server = Server(folder)
        try:
            server.add(texts)
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
                views = first_views(browser, server.url)
                page = browser.new_page()
                page.add_init_script(WATCH)
                times = sorted(keys(page, server.url))
                waits = taxonomy_view(page, server.url)
                browser.close()
        finally:
            server.stop()
    figures = {
        "first_view_ms": round(median(views)),
        "first_view_bar_ms": BAR_VIEW_MS,
        "key_to_next_ms": round(median(times), 1),
        "key_to_next_p95_ms": round(times[int(0.95 * len(times))], 1),
        "key_to_next_bar_ms": BAR_KEY_MS,
        "documents": len(times),
        **{f"{name}_ms": round(median(found), 1) for name, found in waits.items()},
    }
    print(json.dumps(figures, indent=2))
    print(save("screen", "python -m benchmarks screen", figures))


if __name__ == "__main__":
    run()
