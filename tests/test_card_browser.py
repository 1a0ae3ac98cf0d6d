"""The preview in a real browser: it looks like a page at every width, and nothing in it runs or is fetched."""

from __future__ import annotations

import html
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.browser import dom, needs_browser, screenshot
from tests.support import CARD, run_cli

pytestmark = needs_browser

ROOT = Path(__file__).resolve().parent.parent
SCREENSHOTS = ROOT / "build" / "screenshots"
EXAMPLE = ROOT / "examples" / "sql-analytics"
CHINESE = ROOT / "tests" / "cards" / "good" / "chinese-sections.md"
LIGHT, DARK = (0xF6, 0xF7, 0xF9), (0x10, 0x14, 0x1C)

TAKE_OVER = "document.title='owned'"


def make_page(card: Path, target: Path) -> Path:
    result = run_cli("card", "preview", card, "--out", target)
    assert result.exit_code == 0, result.stderr
    return target


@pytest.mark.parametrize(
    ("card", "name", "size", "dark"),
    [
        (EXAMPLE, "sql-analytics-light", (1280, 2400), False),
        (EXAMPLE, "sql-analytics-dark", (1280, 2400), True),
        (EXAMPLE, "sql-analytics-phone", (390, 2400), False),
        (CHINESE, "chinese", (1280, 1600), False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_page_is_shown(card, name, size, dark, tmp_path):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    picture = screenshot(make_page(card, tmp_path / "page.html"), SCREENSHOTS / f"{name}.png", size, dark=dark)
    assert (picture.width, picture.height) == size
    assert picture.corner == (DARK if dark else LIGHT)
    # An empty page has a few bytes here, a page of text some hundred thousand.
    assert picture.detail > 20_000


def hostile_card(folder: Path, address: str) -> Path:
    """A card that tries everything, in the header and in the text, and a folder of pictures with scripts."""
    attack = f"</title></style></textarea><script>{TAKE_OVER}</script><img src={address}/x onerror={TAKE_OVER}>"
    card = CARD.replace(
        "license: apache-2.0", f"license: apache-2.0\npretty_name: '{attack.replace(chr(39), chr(34))}'"
    )
    card = re.sub("summary: .*", "summary: |-\n    " + attack, card)
    card = re.sub(r"tags: \[", f"tags: ['{attack.replace(chr(39), chr(34))}', ", card)
    card += "\n".join(
        [
            "",
            attack,
            "",
            f"<script>{TAKE_OVER}</script>",
            f"<svg onload={TAKE_OVER}></svg><iframe src='{address}/frame'></iframe>",
            f"<style>@import '{address}/style'; body {{ background: url({address}/css) }}</style>",
            f"![remote]({address}/picture.png) ![drawn](drawing.svg)",
            f"[click](javascript:{TAKE_OVER}) [data](data:text/html,<script>{TAKE_OVER}</script>)",
            f'```"><script>{TAKE_OVER}</script>\ncode\n```',
            "",
        ]
    )
    folder.mkdir()
    (folder / "README.md").write_text(card, encoding="utf-8")
    (folder / "drawing.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload="{TAKE_OVER}"><script>{TAKE_OVER}'
        f'</script><image href="{address}/inside.png" width="9" height="9"/><rect width="40" height="40"/></svg>',
        encoding="utf-8",
    )
    return folder


class Listener:
    """A server that counts who calls."""

    def __init__(self) -> None:
        calls = self.calls = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                calls.append(self.path)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self) -> Listener:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def title(shown: str) -> str:
    return html.unescape(re.search("<title>(.*?)</title>", shown, re.DOTALL)[1])


def test_a_hostile_card_runs_nothing_and_fetches_nothing(tmp_path):
    with Listener() as listener:
        page = make_page(hostile_card(tmp_path / "card", listener.address), tmp_path / "page.html")
        shown = dom(page, tmp_path)
        assert listener.calls == []
        # The same attack on a page without defences takes over and calls: this test would notice.
        bare = tmp_path / "bare.html"
        bare.write_text(f"<title>x</title><script>{TAKE_OVER}</script><img src={listener.address}/x>", encoding="utf-8")
        assert title(dom(bare, tmp_path)) == "owned"
        assert listener.calls == ["/x"]
    assert title(shown) == title(page.read_text(encoding="utf-8")) != "owned"
    assert "<script" not in shown
    assert 'src="data:image/svg+xml;base64,' in shown


def test_even_a_script_that_got_in_would_not_run(tmp_path):
    page = make_page(EXAMPLE, tmp_path / "page.html")
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("</body>", f"<script>{TAKE_OVER}</script></body>"), encoding="utf-8")
    assert title(dom(page, tmp_path)) == title(text)


@pytest.mark.parametrize("card", [EXAMPLE, CHINESE, "long"], ids=["example", "chinese", "long-words"])
def test_a_phone_need_not_scroll_sideways(card, tmp_path):
    if card == "long":
        card = tmp_path / "README.md"
        word = "w" * 300
        text = re.sub("summary: .*", f"summary: {word}", CARD).replace("1.0.0", f"1.0.0-{word}")
        card.write_text(f"{text}\n## {word}\n\n{word} `{word}`\n\n| a | b |\n|---|---|\n| {word} | `{word}` |\n\n"
                        f"```\n{word}\n```\n\n- {word}\n", encoding="utf-8")  # fmt: skip
    page = make_page(card, tmp_path / "page.html")
    text = page.read_text(encoding="utf-8")
    # Only without its policy can the page be asked how wide it has become; a window is never as narrow as a frame.
    asked = re.sub("<meta http-equiv.*?>", "", text, count=1).replace(
        "</body>", "<script>parent.document.title = document.documentElement.scrollWidth</script></body>"
    )
    frame = f'<title>?</title><iframe style="width: 390px; border: 0" srcdoc="{html.escape(asked)}"></iframe>'
    page.write_text(frame, encoding="utf-8")
    assert int(title(dom(page, tmp_path))) == 390
