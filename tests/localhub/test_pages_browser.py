"""The pages in a real browser: nothing in a repository runs or is fetched, and they can be read by everybody."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest

from hfenv.localhub.pytest_plugin import ServedHub
from hfenv.localhub.serve import BackgroundServer
from tests.browser import PROGRAM, needs_browser
from tests.localhub import pages_world as world

pytest.importorskip("playwright", reason="playwright isn't installed")
pytestmark = needs_browser

BASE, HOSTILE = f"/datasets/{world.WELL_KNOWN}", "/datasets/mallory/hostile"
PAGES = {
    "list": "/",
    "card": BASE,
    "versions": f"{BASE}/versions",
    "folder": f"{BASE}/tree/main",
    "file": f"{BASE}/blob/main/env/environment.py",
    "picture": f"{BASE}/blob/main/docs/red.png",
    "compare": f"{BASE}/compare/v1.0.0...v1.1.0",
    "history": f"{BASE}/commits/main",
    "discussions": f"{BASE}/discussions",
    "review": f"{BASE}/discussions/2",
    "sign-in": "/-/sign-in",
}

# What a reader needs of any page; each finding is a line.
CHECKS = (Path(__file__).parent / "reading.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = tmp_path_factory.mktemp("pages") / "storage"
    world.build(root, root.parent)
    with BackgroundServer(root) as server:
        yield ServedHub(server.url, root)


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        yield started
        started.close()


@dataclass
class Seen:
    """What a page did besides being shown."""

    requests: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@contextmanager
def looking(browser, hub, **options):
    """A page that keeps what it asks for and what its console says."""
    context = browser.new_context(base_url=hub.endpoint, **{"locale": "en-GB", **options})
    page, seen = context.new_page(), Seen()
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("console", lambda message: seen.said.append(message.text))
    page.on("pageerror", lambda error: seen.said.append(str(error)))
    page.on("dialog", lambda dialog: (seen.said.append(dialog.message), dialog.dismiss()))
    try:
        yield page, seen
    finally:
        context.close()


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("light", 1280),
        ("dark", 390),
        pytest.param("dark", 1280, marks=pytest.mark.slow),
        pytest.param("light", 390, marks=pytest.mark.slow),
    ],
)
def test_every_page_can_be_read_by_everybody(browser, hub, scheme, width):
    viewport = {"width": width, "height": 900}
    with looking(browser, hub, color_scheme=scheme, viewport=viewport) as (page, seen):
        found = {}
        for name, address in PAGES.items():
            page.goto(address)
            found[name] = page.evaluate(CHECKS)
        assert {name: problems for name, problems in found.items() if problems} == {}
        assert seen.said == []
        assert not [url for url in seen.requests if not url.startswith((hub.endpoint, "data:"))]


def test_the_checks_see_what_is_wrong(browser, hub):
    with looking(browser, hub, java_script_enabled=True) as (page, _):
        page.set_content(
            "<body><main><h1>x</h1><h3>y</h3><input><img src='data:,'><p style='color:#aaa'>faint</p>"
            "<b id=a></b><b id=a>"
        )
        found = " ".join(page.evaluate(CHECKS))
    for expected in ("no label", "no alt", "h1 before h3", "contrast", "twice: #a", "no lang", "not one body > header"):
        assert expected in found


def test_nothing_that_a_repository_holds_runs_or_is_fetched(browser, hub):
    with looking(browser, hub) as (page, seen):
        page.goto(HOSTILE)
        commits = page.goto(f"{HOSTILE}/commits/main") and page.eval_on_selector_all(
            "a[href*='/commit/']", "all => all.map((a) => a.getAttribute('href'))"
        )
        assert len(commits) == 2
        addresses = [
            "/",
            f"/?q={quote(world.ATTACK)}&tag={quote(world.ATTACK)}",
            HOSTILE,
            f"{HOSTILE}?revision=main&lang=zh",
            f"{HOSTILE}/versions",
            f"{HOSTILE}/tree/main",
            f"{HOSTILE}/blob/main/page.html",
            f"{HOSTILE}/blob/main/drawing.svg",
            f"{HOSTILE}/blob/main/{quote(world.TURNED)}",
            f"{HOSTILE}/blob/main/{quote('<img src=x onerror=alert(1)>.md')}",
            f"{HOSTILE}/discussions",
            f"{HOSTILE}/discussions/1",
            *commits,
        ]
        for address in addresses:
            answer = page.goto(address)
            assert answer.status == 200, address
            assert page.title() != "owned", address
            assert "\u202e" not in page.content(), address
            # Pictures stand for themselves: those of a card are inside the page.
            for link in page.eval_on_selector_all("a[href]", "all => all.map((a) => a.href)"):
                assert re.match(r"https?://", link), (address, link)
        assert seen.said == []
        assert not [url for url in seen.requests if not url.startswith((hub.endpoint, "data:image/", "data:,"))]


@pytest.mark.parametrize("name", ["page.html", "drawing.svg", "picture.png"])
def test_a_raw_file_opened_by_its_address_runs_nothing(browser, hub, name):
    from playwright.sync_api import Error

    with looking(browser, hub, accept_downloads=True) as (page, seen):
        with pytest.raises(Error, match="Download is starting"):
            page.goto(f"{HOSTILE}/resolve/main/{name}")
        assert page.title() != "owned"
        assert not [url for url in seen.requests if not url.startswith(hub.endpoint)]


def test_even_markup_that_got_in_would_not_run(browser, hub):
    attack = f"<script>{world.TAKE_OVER}</script><img src=x onerror={world.TAKE_OVER}></main>"
    with looking(browser, hub) as (page, seen):

        def spoil(route):
            answer = route.fetch()
            route.fulfill(response=answer, body=answer.text().replace("</main>", attack))

        page.route(f"**{BASE}", spoil)
        page.goto(BASE)
        page.wait_for_load_state("networkidle")
        assert page.title() != "owned"
        assert any("Content Security Policy" in said for said in seen.said)


def test_pages_work_without_scripts_and_by_keyboard(browser, hub):
    with looking(browser, hub, java_script_enabled=False) as (page, _):
        page.goto("/")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.url.endswith("#content")  # the first stop skips the head of the page
        page.get_by_label("Text").fill("add two")
        page.get_by_label("Text").press("Enter")
        page.get_by_role("link", name="Adding").first.click()
        assert page.url == f"{hub.endpoint}{BASE}"
        page.get_by_role("link", name="Versions", exact=True).first.click()
        page.get_by_role("button", name="Compare").click()
        assert page.url.endswith("/compare/v1.0.0...v1.1.0")
        page.get_by_role("link", name="中文").click()
        assert page.get_attribute("html", "lang") == "zh"


def test_a_person_signs_in_and_out(browser, hub):
    with looking(browser, hub) as (page, _):
        page.goto("/datasets/alice/secret")
        page.get_by_role("link", name="Sign in").first.click()
        page.get_by_label("Access token").fill(hub.token("alice", "read"))
        page.get_by_role("button", name="Sign in").click()
        assert page.url.endswith("/datasets/alice/secret")
        assert "Hide two small numbers." in page.inner_text("main")
        assert page.evaluate("document.cookie") == ""
        page.get_by_role("button", name="Sign out").click()
        assert page.goto("/datasets/alice/secret").status == 404


def test_the_snippet_is_copied(browser, hub):
    with looking(browser, hub, permissions=["clipboard-read", "clipboard-write"]) as (page, seen):
        page.goto(BASE)
        page.get_by_role("button", name="Copy").last.click()
        page.get_by_role("button", name="Copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()").startswith("hfenv pull alice/adding@")
        assert seen.said == []
