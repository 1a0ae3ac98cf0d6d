"""The pages as a client without a browser gets them: what is on them, who may see them, and their headers."""

from __future__ import annotations

import ast
import base64
import re
from html import unescape
from html.parser import HTMLParser
from urllib.parse import quote, unquote

import httpx2
import pytest

from hfenv.card import preview_words
from hfenv.localhub.pages.signin import COOKIE
from hfenv.localhub.pages.words import _WORDS, preferred, words
from hfenv.localhub.pytest_plugin import ServedHub
from hfenv.localhub.serve import BackgroundServer
from hfenv.localhub.storage import Storage
from tests.localhub import pages_world as world

BASE = f"/datasets/{world.WELL_KNOWN}"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = tmp_path_factory.mktemp("pages") / "storage"
    world.build(root, root.parent)
    with BackgroundServer(root) as server:
        yield ServedHub(server.url, root)


@pytest.fixture
def http(hub):
    with httpx2.Client(base_url=hub.endpoint, headers={"Accept": "text/html"}, trust_env=False, verify=False) as client:
        yield client


class Reader(HTMLParser):
    """A page's links and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.links += [value for key, value in attributes if tag == "a" and key == "href" and value]

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def read(http, address, status=200, **options) -> Reader:
    answer = http.get(address, **options)
    assert answer.status_code == status, answer.text[-500:]
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    return Reader(answer.text)


def test_every_page_is_reached_by_links_and_none_is_broken(http):
    found, waiting = set(), ["/"]
    while waiting:
        address = waiting.pop().partition("#")[0]
        kind = re.sub("/(tree|blob|resolve|commit|commits)/[^/]+", r"/\1/REV", address.partition("?")[0])
        if not address.startswith("/") or (kind, "lang=" in address) in found:
            continue
        found.add((kind, "lang=" in address))
        answer = http.get(address)
        assert answer.status_code == (401 if re.match("/datasets/alice/gated/(blob|commit|resolve)/", kind) else 200), (
            address
        )
        if answer.headers["content-type"].startswith("text/html"):
            waiting += Reader(answer.text).links
    kinds = {kind for kind, _ in found}
    assert {"/", BASE, f"{BASE}/versions", f"{BASE}/tree/REV", f"{BASE}/blob/REV/env/environment.py"} <= kinds
    assert {f"{BASE}/compare/v1.0.0...v1.1.0", f"{BASE}/commits/REV", f"{BASE}/commit/REV", "/-/sign-in"} <= kinds
    assert {f"{BASE}/resolve/REV/docs/red.png", f"{BASE}/discussions/4", "/datasets/mallory/hostile"} <= kinds


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", {"alice/adding", "alice/gated", "mallory/hostile"}),
        ("q=hostile", {"mallory/hostile"}),
        ("q=Add+TWO", {"alice/adding", "alice/gated"}),
        ("q=nothing-like-it", set()),
        ("rating=B", {"alice/adding"}),
        ("rating=A", set()),
        ("framework=verifiers", {"alice/adding"}),
        ("action=text&licence=apache-2.0", {"alice/adding", "alice/gated"}),
        ("action=sql", set()),
        ("grade=easy", {"alice/adding"}),
        ("tag=none-such", set()),
    ],
)
def test_the_list_shows_what_fits(http, query, expected):
    page = read(http, f"/?{query}")
    shown = {link.removeprefix("/datasets/") for link in page.links if link.startswith("/datasets/")}
    assert shown == expected


def test_the_list_is_sorted_and_paged(hub, http, monkeypatch):
    from hfenv.localhub.pages import environments

    first = next(link for link in read(http, "/?sort=rating").links if link.startswith("/datasets/"))
    assert first == BASE
    monkeypatch.setattr(environments, "PAGE", 2)
    first, second = (read(http, f"/?sort=downloads&page={number}") for number in (1, 2))
    assert "/?sort=downloads&page=2" in first.links
    seen = [link for link in first.links + second.links if link.startswith("/datasets/")]
    assert sorted(seen) == ["/datasets/alice/adding", "/datasets/alice/gated", "/datasets/mallory/hostile"]


def test_a_card_is_shown_with_what_is_known_of_it(http):
    answer = http.get(BASE)
    page = Reader(answer.text)
    for expected in (
        "Adding",
        "Add two small numbers.",
        "stale: the content changed since",
        "self-reported",
        "B · 81 points",
    ):
        assert expected in page.text, expected
    assert "It hangs." in page.text  # the advisory
    assert f"{BASE}/blob/main/env/environment.py" in page.links
    assert f"{BASE}/tree/main/env" in page.links
    assert not [link for link in page.links if "gone.py" in link]
    assert 'src="data:image/png;base64,' in answer.text
    assert 'class="to-right"' in answer.text
    assert "style=" not in answer.text
    assert answer.text.count("<svg") >= 2  # tasks by grade and a measured result


def test_the_snippet_loads_exactly_this(hub, http):
    import hfenv

    page = read(http, BASE)
    commit = re.search(r'revision="([0-9a-f]{40})"', page.text)[1]
    assert f'hub="{hub.endpoint}"' in page.text
    assert f"hfenv pull {world.WELL_KNOWN}@{commit} --hub {hub.endpoint}" in page.text
    call = ast.parse(re.search(r"hfenv\.load\(.*?\)", page.text)[0], mode="eval").body
    options = {option.arg: ast.literal_eval(option.value) for option in call.keywords}
    with hfenv.load(ast.literal_eval(call.args[0]), **options) as env:
        assert env.provenance["code"]["revision"] == commit


def test_an_older_release_says_that_it_is_yanked(http):
    page = read(http, f"{BASE}?revision=v1.0.0")
    assert "Release 1.0.0 is yanked" in page.text
    assert "It counted wrong." in page.text
    assert "yanked: nobody" not in read(http, BASE).text


def test_an_advisory_stands_where_its_versions_are(http):
    assert "Advisory A-1:" in read(http, f"{BASE}?revision=v1.0.0").text
    versions = read(http, f"{BASE}/versions").text
    assert "It hangs." in versions
    assert "(fixed in code 1.0.1)" in versions


def test_versions_tell_each_component_its_changes_and_marks(http):
    page = read(http, f"{BASE}/versions")
    assert "Ask differently" in page.text
    for expected in ("stable", "yanked", "It counted wrong.", "code-v1.0.0", "Changes since 1.0.0"):
        assert expected in page.text
    chosen = http.get(f"{BASE}/compare", params={"from": "v1.0.0", "to": "v1.1.0"})
    assert chosen.status_code == 303
    assert chosen.headers["location"] == f"{BASE}/compare/v1.0.0...v1.1.0"


def test_two_releases_are_compared(http):
    page = read(http, f"{BASE}/compare/v1.0.0...v1.1.0")
    assert 'ASK = "How much is "' in page.text
    assert 'ASK = "What is "' in page.text
    assert "train 12 13 1 added" in page.text
    assert "test 4 4 unchanged" in page.text
    assert "Nothing differs." in read(http, f"{BASE}/compare/v1.0.0...v1.0.0").text
    read(http, f"{BASE}/compare/v1.0.0", 400)
    read(http, f"{BASE}/compare/v1.0.0...none", 404)


def test_files_are_shown_by_what_they_are(http):
    assert "class Adding(hfenv.TaskEnvironment):" in read(http, f"{BASE}/blob/v1.0.0/env/environment.py").text
    hostile = "/datasets/mallory/hostile"
    assert "The file isn't text." in read(http, f"{hostile}/blob/main/binary.bin").text
    assert "too large" in read(http, f"{hostile}/blob/main/large.txt").text
    shown = read(http, f"{hostile}/blob/main/escapes.txt").text
    assert "[U+001B][31mred" in shown
    assert "[U+202E]turned" in shown
    assert "txt.[U+202E]gnp" in read(http, f"{hostile}/tree/main").text
    read(http, f"{BASE}/blob/main/none.py", 404)
    read(http, f"{BASE}/tree/main/none", 404)
    read(http, f"{BASE}/tree/none", 404)
    assert "<img src=" in http.get(f"{BASE}/blob/main/docs/red.png").text
    assert "<img src=" not in http.get(f"{hostile}/blob/main/picture.png").text.replace("<img src=x", "")


@pytest.mark.parametrize(
    ("path", "kind", "way"),
    [
        (f"{BASE}/resolve/main/docs/red.png", "image/png", "inline"),
        (f"{BASE}/resolve/main/docs/drawn.svg", "application/octet-stream", "attachment"),
        ("/datasets/mallory/hostile/resolve/main/page.html", "application/octet-stream", "attachment"),
        ("/datasets/mallory/hostile/resolve/main/picture.png", "application/octet-stream", "attachment"),
    ],
)
def test_a_raw_file_is_never_a_page(http, path, kind, way):
    answer = http.get(path)
    assert answer.headers["content-type"] == kind
    assert answer.headers["content-disposition"].startswith(f"{way}; filename*=UTF-8''")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]


def test_nothing_that_a_repository_says_becomes_markup(http):
    hostile = "/datasets/mallory/hostile"
    addresses = [
        "/",
        hostile,
        f"{hostile}/versions",
        f"{hostile}/tree/main",
        f"{hostile}/commits/main",
        f"{hostile}/blob/main/page.html",
        f"{hostile}/blob/main/{quote('<img src=x onerror=alert(1)>.md')}",
        *(link for link in read(http, f"{hostile}/commits/main").links if "/commit/" in link),
        f"/{quote(world.ATTACK)}",
        f"/?q={quote(world.ATTACK)}&tag={quote(world.ATTACK)}",
    ]
    for address in addresses:
        text = http.get(address).text
        assert "<script>document" not in text, address
        assert "<img src=http" not in text, address
        assert "\u202e" not in text, address
        assert not re.search(r'href="(?:javascript|data:text|//|http://elsewhere.invalid")', text), address


def test_private_repositories_are_for_those_who_may(hub, http):
    secret = "/datasets/alice/secret"
    read(http, secret, 404)
    assert "Hide two" not in read(http, "/").text
    own = {"Authorization": f"Bearer {hub.token('alice')}"}
    basic = {"Authorization": "Basic " + base64.b64encode(f"alice:{hub.token('alice', 'read')}".encode()).decode()}
    other = {"Authorization": f"Bearer {hub.token('bob')}"}
    for headers in (own, basic):
        assert "Hide two" in read(http, secret, headers=headers).text
        assert "Hide two" in read(http, "/", headers=headers).text
    read(http, secret, 404, headers=other)
    read(http, secret, 401, headers={"Authorization": "Bearer wrong"})
    read(http, secret, 401, headers={"Authorization": "Basic wrong"})


def test_a_gated_repository_shows_its_header_alone(hub, http):
    gated = "/datasets/alice/gated"
    page = read(http, gated)
    assert "Add two small numbers." in page.text
    assert "1 for the sum" not in page.text
    ask = re.search(r"curl -X POST .*(http://\S+/ask-access)", unescape(page.text))[1]
    assert http.post(ask, headers={"Authorization": f"Bearer {hub.token('bob')}"}).json() == {"status": "pending"}
    read(http, f"{gated}/blob/main/env/environment.py", 401)
    own = {"Authorization": f"Bearer {hub.token('alice')}"}
    assert "1 for the sum" in read(http, gated, headers=own).text
    assert "SECRET" in read(http, f"{gated}/blob/main/env/environment.py", headers=own).text


def test_signing_in_keeps_the_token_on_the_server(hub, http, caplog):
    token = hub.token("alice", "read")
    answer = http.post("/-/sign-in", data={"token": token, "next": "/datasets/alice/secret"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/datasets/alice/secret")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert token not in cookie + answer.text
    assert "Signed in as alice" in read(http, "/datasets/alice/secret").text
    assert http.get("/datasets/alice/secret/resolve/main/README.md").status_code == 200
    assert http.get("/api/datasets/alice/secret").status_code == 401  # the API takes no cookie
    assert http.post("/-/sign-out").status_code == 303
    read(http, "/datasets/alice/secret", 404)
    assert token not in caplog.text


def test_a_revoked_token_signs_out(hub, http):
    from hfenv.localhub.users import TokenStore

    token = hub.token("alice", "read")
    http.post("/-/sign-in", data={"token": token})
    read(http, "/datasets/alice/secret")
    TokenStore(hub.root).revoke(token)
    read(http, "/datasets/alice/secret", 404)
    assert "Sign in" in read(http, "/").text


@pytest.mark.parametrize("target", ["//elsewhere.invalid", "http://elsewhere.invalid", "/\\elsewhere.invalid"])
def test_signing_in_leads_nowhere_else(hub, http, target):
    answer = http.post("/-/sign-in", data={"token": hub.token("alice"), "next": target})
    assert answer.headers["location"] == "/"
    assert f'value="{target}"' not in http.get("/-/sign-in", params={"next": target}).text


def test_another_site_signs_nobody_in(hub, http):
    form = {"token": hub.token("alice")}
    for headers in ({"Origin": "http://elsewhere.invalid"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = http.post("/-/sign-in", data=form, headers=headers)
        assert answer.status_code == 403
        assert COOKIE not in answer.headers.get("set-cookie", "")


def test_wrong_tokens_are_counted(hub, tmp_path):
    with (
        BackgroundServer(tmp_path / "storage") as server,
        httpx2.Client(base_url=server.url, trust_env=False) as client,
    ):
        tries = [client.post("/-/sign-in", data={"token": f"hf_{n}"}).status_code for n in range(11)]
    assert tries == [401] * 10 + [429]


def test_pages_speak_the_visitors_language(http):
    assert 'lang="zh"' in http.get("/", headers={"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}).text
    assert 'lang="en"' in http.get("/", headers={"Accept-Language": "fr, *;q=0.1"}).text
    page = http.get("/?lang=zh")
    assert "强化学习环境" in page.text
    assert "强化学习环境" in http.get("/").text  # kept in a cookie
    assert "Reinforcement-learning" in http.get("/?lang=en").text
    assert preferred("en;q=0.1,zh;q=0.5") == "zh"
    assert preferred("nonsense;;;q=x") == "en"


def test_every_word_has_two_languages_and_a_name_that_templates_can_use():
    assert all(english.strip() and chinese.strip() for english, chinese in _WORDS.values())
    assert not [key for key in words("en") if hasattr(dict, key)]
    assert not _WORDS.keys() & preview_words.words("en").keys()


def test_addresses_of_clients_stay_what_they_were(http):
    assert http.get("/api/datasets").headers["content-type"] == "application/json"
    missing = http.get("/api/datasets/none/such")
    assert missing.json()["error"]
    assert missing.headers["x-error-code"] == "RepoNotFound"
    assert http.get("/nowhere", headers={"Accept": "*/*"}).headers["content-type"] == "application/json"
    read(http, "/nowhere", 404)
    assert http.head(BASE).status_code == 200
    assert http.post(BASE).status_code == 405


def test_the_in_process_hub_has_no_pages(tmp_path):
    from hfenv.localhub.app import create_app

    paths = {route.path for route in create_app(tmp_path / "storage").routes}
    assert "/" not in paths
    assert "/datasets/{namespace}/{name}" not in paths


def test_names_in_addresses_come_back_whole(http):
    name = "<img src=x onerror=alert(1)>.md"
    links = read(http, "/datasets/mallory/hostile/tree/main").links
    assert name in {unquote(link.rsplit("/", 1)[-1]) for link in links}


def test_discussions_reviews_and_pull_requests_are_there_to_read(http):
    page = read(http, f"{BASE}/discussions")
    assert "4.0 of 5 on average, 1 in all" in page.text  # of a release that is there
    assert "pull request · open · bob" in page.text
    assert "| a |" not in (question := read(http, f"{BASE}/discussions/1")).text
    assert "I wonder." in question.text
    review = read(http, f"{BASE}/discussions/2")
    assert "4 of 5 · release 1.1.0" in review.text
    assert "hfenv-review" not in review.text
    pull = read(http, f"{BASE}/discussions/4")
    assert "bob added Add notes" in pull.text
    compared = next(link for link in pull.links if "/compare/" in link)
    assert "added NOTES.md" in read(http, compared).text
    read(http, f"{BASE}/discussions/99", 404)
    read(http, f"{BASE}/discussions/x", 404)


def test_likes_and_downloads_are_counted(hub, http):
    import huggingface_hub

    from hfenv.localhub.popularity import like

    storage = Storage(hub.root)
    for user in ("alice", "bob"):
        like(storage.path(world.repo_of("alice/gated")), user)
    first = next(link for link in read(http, "/?sort=likes").links if link.startswith("/datasets/"))
    assert first == "/datasets/alice/gated"
    assert "2 likes" in read(http, first).text
    assert huggingface_hub.HfApi(hub.endpoint, token=False).dataset_info("alice/gated").likes == 2
