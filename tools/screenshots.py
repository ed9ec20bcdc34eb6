"""Take pictures of all views of the screen, in three widths and both themes.

Command: make screenshots
The server runs on the demo, some of whose documents get their true categories, and some wrong ones,
so that every view has something to show. The pictures go to docs/_screenshots.
"""

from __future__ import annotations

import gzip
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taxonomist.server.demo_model import demo_table

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "_screenshots"
WIDTHS = {"wide": 1100, "zoomed": 720, "phone": 390}
"""A small window, a window of 1,440 pixels at 200 %, and a phone."""
VIEWS = {
    "file": ("file/sample-09", ".why mark"),
    "queue": ("queue", ".waiting a"),
    "try": ("try", ".try mark"),
    "taxonomy": ("taxonomy/math", ".details blockquote"),
    "quality": ("quality", ".versions li"),
    "disputes": ("disputes", ".waiting-row"),
    "history": ("history", "td .button"),
}
"""The address of each view, and what is there when all is."""
SETTLE_MS = 300
"""Trees scroll to their active row."""
TRIED = (
    "Moduli spaces of stable curves",
    "We compute the Chow ring of the moduli space of stable curves of genus two with marked "
    "points, and compare it with its tautological subring.",
)
N_DECIDED = 40
WRONG_EVERY = 9


class Demo:
    """A server of the demo."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "taxonomist", "serve", "--port", str(port)]
        options = ["--folder", str(folder), "--random-share", "0.6"]
        self._process = subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                self.ask("/ready")
                return
            except OSError:
                time.sleep(0.2)
        raise TimeoutError("The demo does not start.")

    def ask(self, path: str, body: object = None) -> Any:
        """Ask a route."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def fill(self) -> None:
        """Decide about documents: most as in the corpus, some wrongly."""
        with gzip.open(demo_table(), "rt", encoding="utf-8") as lines:
            truth = {row["title"]: row["primary"] for row in map(json.loads, lines)}
        project = "/v1/projects/arxiv"
        documents = self.ask(f"{project}/documents?limit=100")["documents"]
        for i, each in enumerate(documents[-N_DECIDED:]):
            label = "math.HO" if i % WRONG_EVERY == 0 else truth[each["texts"]["title"]]
            is_right = [label] == each["offer"]["labels"]
            action = {"action": "accept"} if is_right else {"action": "correct", "labels": [label]}
            self.ask(f"{project}/decisions", {"document_id": each["document_id"], **action})

    def stop(self) -> None:
        """Stop the server."""
        self._process.terminate()
        self._process.wait(60)


def take(browser: Any, url: str, views: Sequence[str]) -> None:
    """Take the pictures of views."""
    for theme in ("light", "dark"):
        for name, width in WIDTHS.items():
            page = browser.new_page(
                viewport={"width": width, "height": 800}, color_scheme=theme, locale="en-GB"
            )
            for view in views:
                address, sign = VIEWS[view]
                page.goto(f"{url}/#/arxiv/{address}")
                page.wait_for_selector(f"#main[data-view={view}]")
                if view == "try":
                    for field, text in zip(page.locator("textarea").all(), TRIED, strict=True):
                        field.fill(text)
                    page.keyboard.press("Control+Enter")
                page.wait_for_selector(sign)
                page.wait_for_timeout(SETTLE_MS)
                page.screenshot(path=TARGET / f"{view}-{name}-{theme}.png")
            page.close()


def main() -> None:
    """Take pictures of the named views, all by default."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        sys.exit("No Chromium on this machine: apt-get install chromium")
    views = sys.argv[1:] or list(VIEWS)
    TARGET.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        demo = Demo(Path(folder))
        try:
            demo.fill()
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
                take(browser, demo.url, views)
                browser.close()
        finally:
            demo.stop()
    print(f"{len(views) * 2 * len(WIDTHS)} pictures are in {TARGET.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
