"""`hfenv card schema`, `extract` and `preview`, as editors, hooks and people call them."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfenv.card.compose import compose
from hfenv.card.nodes import value_of
from hfenv.card.preview import render_preview
from hfenv.card.problem import CardError
from hfenv.card.reader import parse_card
from hfenv.components.validation import validate
from tests.support import CARD, replace_in, run_cli, write_environment

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "sql-analytics"
CARDS = ROOT / "tests" / "cards"
SCHEMA = ROOT / "schemas" / "environment-card-v1.yaml"
EVERY = sorted(CARDS.rglob("*.md"))
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0h9v9z"/></svg>'


def is_readable(path: Path) -> bool:
    try:
        parse_card(path.read_bytes())
    except CardError:
        return False
    return True


READABLE = [path for path in EVERY if is_readable(path)]
UNREADABLE = [path for path in EVERY if path not in READABLE]


def name(path: Path) -> str:
    return path.stem


class Page(HTMLParser):
    """A page's elements and its text, as a parser that isn't hfenv's sees them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.style = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.elements and self.elements[-1][0] == "style":
            self.style += data
        else:
            self.words.append(data)

    def handle_endtag(self, tag):
        if tag == "style":
            self.elements.append(("/style", {}))

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for each, attributes in self.elements if each == tag]


def preview(path: Path) -> Page:
    result = run_cli("card", "preview", path)
    assert result.exit_code == 0, result.stderr
    page = Page(result.stdout)
    assert_self_contained(page)
    return page


def assert_self_contained(page: Page) -> None:
    """Nothing runs, nothing is fetched, and only links that a reader clicks lead away."""
    allowed = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    policies = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policies == [allowed]
    active = {
        "script",
        "iframe",
        "object",
        "embed",
        "link",
        "base",
        "form",
        "input",
        "button",
        "audio",
        "video",
        "source",
    }
    assert not active & {tag for tag, _ in page.elements}
    for tag, attributes in page.elements:
        assert not [key for key in attributes if key.startswith("on") or key in ("srcset", "background", "xlink:href")]
        # The style that an attribute may hold is a column's alignment, which Markdown has a sign for.
        assert re.fullmatch("text-align:(left|right|center)", attributes.get("style") or "text-align:left")
        assert (attributes.get("src") or "data:image/").startswith("data:image/")
        if (href := attributes.get("href")) is not None:
            assert tag == "a"
            assert re.match("#|https?://|mailto:", href)
            assert href.startswith("#") or "noopener" in str(attributes["rel"])
    assert len(page.all("style")) == 1
    assert not re.search(r"url\(|@import|@font-face|expression", page.style)
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert {a["href"][1:] for a in page.all("a") if a["href"].startswith("#")} <= ids


def card_with(folder: Path, text: str, header: str = "") -> Path:
    """An environment whose card ends in some Markdown, perhaps with lines added to its header."""
    return write_environment(
        folder, files={"README.md": CARD.replace("license:", f"{header}license:", 1) + "\n" + text}
    )


# --- schema


def test_the_schema_is_the_file_in_json_and_yaml():
    as_json = run_cli("card", "schema")
    assert json.loads(as_json.stdout) == value_of(compose(SCHEMA.read_text(encoding="utf-8")))
    jsonschema.Draft202012Validator.check_schema(json.loads(as_json.stdout))
    assert run_cli("card", "schema", "--as", "json").stdout == as_json.stdout
    assert run_cli("card", "schema", "--as", "yaml").stdout == SCHEMA.read_text(encoding="utf-8")
    wrapped = run_cli("card", "schema", "--format", "json").json
    assert (wrapped["command"], wrapped["schema"]) == ("card schema", json.loads(as_json.stdout))


def test_the_page_of_fields_is_up_to_date():
    made = run_cli("card", "schema", "--as", "markdown").stdout
    page = (ROOT / "docs" / "card-fields.md").read_text(encoding="utf-8")
    assert page == made, "run: hfenv card schema --as markdown > docs/card-fields.md"


def test_the_page_of_fields_has_every_field():
    schema = value_of(compose(SCHEMA.read_text(encoding="utf-8")))
    page = run_cli("card", "schema", "--as", "markdown").stdout

    def fields(node):
        if isinstance(node, dict):
            for field, inner in node.get("properties", {}).items():
                # A test of another field's value (type: {const: box}) is no definition.
                if "description" in inner or "$ref" in inner:
                    yield field, inner
            for key, inner in node.items():
                if key not in ("if", "dependentSchemas"):
                    yield from fields(inner)

    found = list(fields(schema))
    assert len(found) > 80
    for field, inner in found:
        assert re.search(rf"^(\| (\*\*)?|## )`{field}`", page, re.MULTILINE), field
        assert " ".join(inner.get("description", "").split()).replace("<", "&lt;") in page
    assert "| **`summary`** | text |" in page
    assert "Default: `seeded`." in page
    assert re.search(r"^\| `release` .*\*Written by hfenv\.\* \|$", page, re.MULTILINE)
    assert "`entry` is required unless `builtin: true`." in page
    assert not re.search(r"[^`&]<(?!/?(br)>)", page)


# --- extract


def hfenv(*arguments: object, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[bytes]:
    """The command in a process of its own, whose standard input and output are bytes."""
    command = [sys.executable, "-m", "hfenv.cli", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, env={**os.environ, **variables})


def test_extract_prints_the_header_as_it_is_written():
    raw = (CARDS / "good" / "crlf.md").read_bytes()
    written = raw[raw.index(b"---\r\n") + 5 :].partition(b"---\r\n")[0]
    assert b"\r\n" in written
    for done in (hfenv("card", "extract", CARDS / "good" / "crlf.md"), hfenv("card", "extract", "-", stdin=raw)):
        assert (done.returncode, done.stdout, done.stderr) == (0, written, b"")


def test_extract_gives_values_as_json(tmp_path):
    path = write_environment(tmp_path)
    expected = run_cli("card", "extract", path / "README.md", "--format", "json").json
    assert expected["front_matter"]["environment"]["code"]["version"] == "1.0.0"
    assert run_cli("card", "extract", "--format", "json", cwd=path).json == expected
    digits = "f" * 5000
    replace_in(path / "README.md", "tags:", f"odd: [.inf, -.inf, .nan, 0x{digits}, no, 1.10]\ntags:")
    odd = run_cli("card", "extract", path, "--format", "json").json["front_matter"]["odd"]
    assert odd == [".inf", "-.inf", ".nan", f"0x{digits}", "no", 1.1]


@pytest.mark.parametrize("path", UNREADABLE, ids=name)
def test_a_card_that_cannot_be_read_exits_with_3(path, tmp_path):
    for command in ("extract", "preview"):
        result = run_cli("card", command, path)
        assert (result.exit_code, result.stdout) == (3, "")
        assert result.stderr.startswith(f"error: {path.name}:")
    out = tmp_path / "page.html"
    assert run_cli("card", "preview", path, "--out", out).exit_code == 3
    assert not out.exists()


def test_what_is_not_there_is_said(tmp_path):
    missing = run_cli("card", "extract", tmp_path / "nowhere")
    assert (missing.exit_code, missing.stdout) == (4, "")
    assert "nowhere" in missing.stderr
    empty = run_cli("card", "preview", tmp_path)
    assert (empty.exit_code, empty.stdout) == (3, "")
    assert "README.md" in empty.stderr
    piped = hfenv("card", "extract", "-")
    assert piped.returncode == 3
    assert piped.stderr.startswith(b"error: standard input:1:1: ")


# --- preview


@pytest.mark.parametrize("path", READABLE, ids=name)
def test_every_card_that_can_be_read_has_a_page(path):
    page = preview(path)
    assert page.all("h1")
    assert page.all("html")[0]["lang"] in ("en", "zh")


def test_the_page_tells_what_the_card_says():
    page = preview(CARDS / "good" / "everything.md")
    text = page.text
    for told in (
        "😀 SQL", "Answer questions by writing one SQL query.", "Licence apache-2.0", "org/sql-analytics", "mit code",
        "self-reported · ruleset 1 · sandbox L3", "A · 96 points", "Release 1.1.0", "Code 1.0.2", "Tasks 1.1.0",
        "Reward 1.0.0", "easy 3 · 75%", "hard 1 · 25%", "4 in all", "heuristic test mean_return 0.86 1.1.0",
        "train tasks/train.jsonl", "target the answer, never shown gold_rows", "sqlglot>=30", "JUDGE_KEY", "5 s",
        "512 MB", "sql one SELECT statement", "-1.0 … 1.0", "This environment is deprecated.", "A better one is there.",
        "Successor: org/other", "A-1 Ties were paid. reward <1.0.0 · fixed in 1.0.0", "Words about it.",
    ):  # fmt: skip
        assert told in text, told
    assert {"href": "https://example.org/original", "rel": "noopener noreferrer nofollow"} in page.all("a")


def test_the_table_of_contents_leads_to_every_section():
    page = preview(EXAMPLE)
    targets = [a["href"] for a in page.all("a")]
    for section in ("overview", "installation", "interface", "usage", "tasks", "reward", "benchmarks", "limitations"):
        assert f"#s-{section}" in targets
    assert page.text.count("SQL analytics on New York flights") == 2  # the window's title and the page's, no third one


def test_grades_come_from_the_card_else_from_the_task_files(tmp_path):
    root = write_environment(tmp_path / "counted", rows=12)
    text = preview(root).text
    assert "easy 6 · 38%" in text
    assert "medium 5 · 31%" in text
    assert "hard 5 · 31%" in text
    # A card alone says nothing of files that may lie beside it.
    assert "The tasks have no grades." in preview(root / "README.md").text
    replace_in(root / "README.md", "    splits:", "    difficulty: {easy: 7, odd: 1}\n    splits:")
    assert "easy 7 · 88%" in preview(root).text
    (root / "tasks" / "train.jsonl").write_text("no JSON\n", encoding="utf-8")
    replace_in(root / "README.md", "    difficulty: {easy: 7, odd: 1}\n", "")
    result = run_cli("card", "preview", root)
    assert (result.exit_code, "train.jsonl:1" in result.stderr) == (0, True)
    assert "The tasks have no grades." in Page(result.stdout).text


@pytest.mark.parametrize("name", ["grade", "Level", "难度", "等级"])
def test_grades_may_have_other_names(tmp_path, name):
    root = write_environment(tmp_path / "adding")
    for path in (root / "README.md", root / "tasks" / "train.jsonl", root / "tasks" / "test.jsonl"):
        path.write_text(path.read_text(encoding="utf-8").replace("difficulty", name), encoding="utf-8")
    assert "medium" in preview(root).text
    replace_in(root / "README.md", "    splits:", "    difficulty: {easy: 1}\n    splits:")
    report = validate(root)
    assert [finding.rule for finding in report.findings] == ["HFE308"]
    assert "easy: 6, hard: 5, medium: 5" in report.findings[0].message


def test_many_grades_are_sorted_and_bounded(tmp_path):
    grades = ", ".join(f"level {n}: {n + 1}" for n in reversed(range(30)))
    root = card_with(tmp_path, "")
    replace_in(root / "README.md", "    splits:", f"    difficulty: {{{grades}}}\n    splits:")
    page = preview(root)
    assert re.findall(r"level (\d+) \d+ ·", page.text) == [str(n) for n in range(11)]
    assert "others 399 · 86%" in page.text
    assert "465 in all" in page.text


@pytest.mark.parametrize(
    ("header", "headings", "language"),
    [
        ("", ["概述", "安装", "用法"], "zh"),
        ("language: [zh-TW, en]\n", ["概述", "安装"], "zh-TW"),
        ("language: zh\n", ["Overview", "Usage"], "en"),
        ("language: zh\n", ["Overview 概述", "Usage 用法"], "zh"),
        ("", ["Overview 概述", "Usage 用法"], "en"),
        ("language: ja\n", ["概要です", "インストール"], "en"),
        ("language: ['zh\"><script>']\n", ["概述"], "zh"),
        ("language: zh\n", [], "zh"),
        ("language: {a: b}\n", ["Overview"], "en"),
    ],
)
def test_the_page_speaks_the_language_of_the_headings(header, headings, language, tmp_path):
    block = CARD[: CARD.index("# Adding")].replace("license:", f"{header}license:")
    body = "".join(f"## {heading}\n\n...\n\n" for heading in headings)
    page = preview(write_environment(tmp_path, files={"README.md": block + body}))
    assert page.all("html")[0]["lang"] == language
    labels = ("许可证", "版本", "任务字段", "未审计") if language.startswith("zh") else ("Licence", "not audited")
    assert all(label in page.text + str(page.elements) for label in labels)


def test_markdown_is_rendered_and_comments_are_not_shown(tmp_path):
    body = (
        "## Formats `x` & more\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n\n~~old~~ **bold** [up](#formats-x--more)\n\n"
        "<!-- hidden\n## Not a heading\n-->\n\nshown <!-- inline --> here\n\n```python\nx = '<b>'\n```\n\n"
        "[file](docs/x.md) [mail](mailto:a@example.org) <https://example.org/a?b=c&d>\n\n"
        "    <!-- code -->\n\n<b>raw</b> and <!-- no end\n"
    )
    page = preview(card_with(tmp_path, body))
    tags = [tag for tag, _ in page.elements]
    assert {"table", "s", "strong", "pre"} <= set(tags)
    assert "b" not in tags
    for shown in ("Formats x & more", "shown here", "x = '<b>'", "<b>raw</b> and <!-- no end", "<!-- code -->"):
        assert shown in page.text
    for hidden in ("hidden", "Not a heading", "inline"):
        assert hidden not in page.text
    links = [a["href"] for a in page.all("a")]
    assert links[-3:] == ["#s-formats-x--more", "mailto:a@example.org", "https://example.org/a?b=c&d"]
    assert {"class": "place", "title": "docs/x.md"} in page.all("span")


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "</style><script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt&#58;alert(1))",
        "[x](vbscript:x) [y](data:text/html;base64,PHNjcmlwdD4=) [z](file:///etc/passwd)",
        "[x](//host.example/share) [y](\\\\host\\share)",
        "![x](javascript:alert(1)) ![y](data:text/html,hi) ![z](data:image/svg+xml,<svg/onload=alert(1)>)",
        '![x"onload="alert(1)](https://host.example/a.png)',
        '[x](https://host.example/"onclick="alert(1) "title\\"onclick=alert(1)")',
        '```"><script>alert(1)</script>\ncode\n```',
        "# x {onclick=alert(1)} <b onclick=alert(1)>\n",
        '| a |\n|---|\n| <td style="background:url(https://host.example)"> |',
        "<a href='https://host.example' style='position:fixed;inset:0'>x</a>",
        "{{ 7*191 }} {% raw %} ${7*191} {# gone #}",
        "&lt;script&gt; &#60;script&#62;",
    ],
)
def test_nothing_that_an_author_writes_becomes_active(attack, tmp_path):
    quoted = json.dumps(attack)
    header = f"pretty_name: {quoted}\nlanguage: [{quoted}]\nsize_categories: {quoted}\n"
    root = card_with(tmp_path, f"{attack}\n\ntext {attack}\n", header)
    card = (root / "README.md").read_text(encoding="utf-8")
    card = card.replace("tags: [", f"tags: [{quoted}, ").replace("Add two small numbers.", quoted)
    card = card.replace('version: "1.0.0"', f"version: {quoted}").replace("question: input", f"{quoted}: {quoted}")
    card = card.replace("train: tasks/train.jsonl", f"{quoted}: {quoted}").replace("type: text", f"type: {quoted}")
    block = (
        f"  benchmarks: [{{policy: {quoted}, split: {quoted}, metric: {quoted}, value: {quoted}}}]\n"
        f"  audit: {{rating: {quoted}, score: {quoted}, digests: {quoted}}}\n"
        f"  lifecycle: {{status: deprecated, reason: {quoted}, successor: {quoted}}}\n"
        f"  resources: [{{name: {quoted}, uri: {quoted}}}]\n  limits: {{max_steps: {quoted}}}\n"
    )
    (root / "README.md").write_text(card.replace("  limits: {max_steps: 1}\n", block), encoding="utf-8")
    page = preview(root)  # which checks every element and attribute
    assert not [element for element in page.elements if element[0] in ("img", "b", "td onclick")]
    assert "1337" not in page.text
    assert " ".join(attack.split()) in page.text


def test_pictures_of_the_folder_come_along_and_others_become_links(tmp_path):
    root = card_with(
        tmp_path / "card",
        "![a png](assets/a.png) ![with space](<assets/b c.svg>) ![encoded](./assets/b%20c.svg?raw=true#x)\n\n"
        "![far](https://host.example/far.png) [![badge](https://host.example/b.svg)](https://host.example/ci)\n\n"
        f"![inside](data:image/png;base64,{base64.b64encode(PNG).decode()})\n",
    )
    (root / "assets").mkdir()
    (root / "assets" / "a.png").write_bytes(PNG)
    (root / "assets" / "b c.svg").write_bytes(SVG)
    for path in (root, root / "README.md"):
        page = preview(path)
        shown = [(image["alt"], image["src"]) for image in page.all("img")]
        png, svg = (base64.b64encode(content).decode() for content in (PNG, SVG))
        assert shown == [
            ("a png", f"data:image/png;base64,{png}"),
            ("with space", f"data:image/svg+xml;base64,{svg}"),
            ("encoded", f"data:image/svg+xml;base64,{svg}"),
            ("inside", f"data:image/png;base64,{png}"),
        ]
        outside = [a["href"] for a in page.all("a") if a["href"].startswith("http")]
        assert outside == ["https://host.example/far.png", "https://host.example/ci"]
    assert "badge" in page.text


def test_no_picture_comes_from_outside_of_the_folder(tmp_path):
    sources = [
        "../secret.png", "a/../../secret.png", "%2e%2e/secret.png", "..%2Fsecret.png", "..\\secret.png",
        str(tmp_path / "secret.png"), f"file://{tmp_path}/secret.png", "link.png", "linked/secret.png", "text.png",
        "pipe.png", "folder.png", "large.png", "nul%00.png", "n" * 300 + ".png", "loop.png", "", "/", ".", "?", "#x",
    ]  # fmt: skip
    root = card_with(tmp_path / "card", "\n\n".join(f"![picture {n}](<{s}>)" for n, s in enumerate(sources)))
    (tmp_path / "secret.png").write_bytes(PNG)
    (root / "link.png").symlink_to(tmp_path / "secret.png")
    (root / "linked").symlink_to(tmp_path, target_is_directory=True)
    (root / "loop.png").symlink_to(root / "loop.png")
    (root / "text.png").write_text("root:x:0:0\n", encoding="utf-8")
    (root / "folder.png").mkdir()
    (root / "large.png").write_bytes(PNG + b"\0" * 3_000_000)
    os.mkfifo(root / "pipe.png")
    page = preview(root)
    assert page.all("img") == []
    assert all(f"picture {n}" in page.text for n in range(len(sources)))


def test_all_pictures_together_are_bounded(tmp_path):
    root = card_with(tmp_path, "\n".join(f"![{n}]({n}.png)" for n in range(9)))
    for n in range(9):
        (root / f"{n}.png").write_bytes(PNG + b"\0" * 1_500_000)
    assert len(preview(root).all("img")) == 5


def test_huge_cards_give_pages_of_bounded_size(tmp_path):
    long, many = "w" * 50_000, ", ".join(f"f{n}: input" for n in range(5000))
    root = card_with(tmp_path, "many words. " * 200_000)
    card = (root / "README.md").read_text(encoding="utf-8").replace("Add two small numbers.", long)
    card = card.replace("question: input", many).replace(
        "max_steps: 1", f"max_steps: {'9' * 3999}, memory_mb: 0x{'f' * 20_000}"
    )
    (root / "README.md").write_text(card, encoding="utf-8")
    page = preview(root)
    assert "The text is longer than a page can be; its end is left out." in page.text
    assert len(page.text) < 300_000
    assert "f39" in page.text
    assert "f41" not in page.text


@pytest.mark.parametrize(
    "sign", [">", "- ", "[", "![", "*", "`", "(", "<!--", "|", "~~", "&", "# ", "<", "\\", "[a](", "_a", "**a"]
)
def test_markdown_that_nests_without_end_is_no_burden(sign, tmp_path):
    root = card_with(tmp_path, sign * 5_000 + "\n\nlast words")
    assert preview(root).all("h1")


KEYS = sorted({*re.findall(r"^ *(?:- )?\{?([a-z_]+):", SCHEMA.read_text(encoding="utf-8"), re.MULTILINE)})
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8), st.sampled_from(KEYS),
    st.sampled_from(["A", "meta", "input", "archived", "items", "zh", "10" * 200, "<script>", "{{ 7 }}"]),
)  # fmt: skip
TREES = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner)
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    top=st.dictionaries(st.sampled_from(["pretty_name", "language", "tags", "license", "configs"]), TREES),
    block=st.dictionaries(st.sampled_from(KEYS), TREES) | TREES,
    nested=st.dictionaries(st.sampled_from(["tasks", "code", "reward", "audit", "lifecycle", "action", "requires"]),
                           st.dictionaries(st.sampled_from(KEYS), TREES)),
    body=st.text(max_size=200),
)  # fmt: skip
def test_any_header_that_can_be_read_gives_a_safe_page(top, block, nested, body):
    environment = {**block, **nested} if isinstance(block, dict) else block
    header = json.dumps({**top, "environment": environment})
    with contextlib.suppress(CardError):
        card = parse_card(f"---\n{header}\n---\n{body}".encode("utf-8", "replace"))
        assert_self_contained(Page(render_preview(card, grades={body: 3}).decode()))


def test_out_writes_a_page_and_never_replaces_what_is_none(tmp_path):
    root = write_environment(tmp_path / "card")
    out = tmp_path / "page.html"
    made = run_cli("card", "preview", root, "--out", out)
    assert made.exit_code == 0
    assert made.stdout == f"{out}: {out.stat().st_size:,} bytes\n"
    assert out.read_text(encoding="utf-8") == run_cli("card", "preview", root).stdout
    replace_in(root / "README.md", "Add two", "Add three")
    assert run_cli("card", "preview", root, "--out", out, "--format", "json").json == {
        "format": 1, "command": "card preview", "out": out.as_posix(), "bytes": out.stat().st_size
    }  # fmt: skip
    assert "Add three" in out.read_text(encoding="utf-8")
    for other in (root / "README.md", root / "LICENSE"):
        before = other.read_bytes()
        refused = run_cli("card", "preview", root, "--out", other)
        assert (refused.exit_code, other.read_bytes()) == (2, before)
        assert "--force" in refused.stderr
    assert run_cli("card", "preview", root, "--out", root / "LICENSE", "--force").exit_code == 0
    assert (root / "LICENSE").read_bytes().startswith(b"<!doctype html>")
    inside = run_cli("card", "preview", "--out", "page.html", cwd=root)
    assert (inside.exit_code, "would be pushed" in inside.stderr) == (0, True)
    assert run_cli("card", "preview", root, "--out", root).exit_code == 2
    assert run_cli("card", "preview", root, "--out", root / "LICENSE" / "x.html").exit_code == 2
    assert run_cli("card", "preview", root, "--format", "json").json["html"].startswith("<!doctype html>")


def test_a_page_goes_through_pipes_as_utf_8():
    raw = (CARDS / "good" / "chinese-sections.md").read_bytes()
    done = hfenv("card", "preview", "-", stdin=raw, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0
    assert "写一条 SQL 查询来回答业务问题。" in done.stdout.decode("utf-8")
    assert not re.search(rb"\r", done.stdout)


def test_a_page_does_not_flood_a_terminal():
    terminal, end = os.openpty()
    command = [sys.executable, "-m", "hfenv.cli", "card", "preview", str(EXAMPLE)]
    done = subprocess.run(command, stdout=end, stderr=subprocess.PIPE, check=False)
    os.close(end)
    os.close(terminal)
    assert done.returncode == 2
    assert b"--out" in done.stderr


def test_open_hands_the_page_to_the_browser(tmp_path):
    seen = tmp_path / "seen"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > "{seen}"\n', encoding="utf-8")
    browser.chmod(0o755)
    out = tmp_path / "page.html"
    done = hfenv("card", "preview", CARDS / "good" / "minimal.md", "--open", "--out", out, BROWSER=f"{browser} %s")
    assert (done.returncode, done.stderr) == (0, b"")
    assert seen.read_text(encoding="utf-8") == out.as_uri()
    failing = hfenv(
        "card", "preview", CARDS / "good" / "minimal.md", "--open", "--out", out, BROWSER="false %s", PATH=""
    )
    assert failing.returncode == 0
    assert b"No browser could be started" in failing.stderr


def test_the_chart_can_be_read_without_colour_and_without_eyes():
    page = preview(CARDS / "good" / "everything.md")
    (chart,) = [svg for svg in page.all("svg") if svg.get("class") == "chart"]
    assert chart["role"] == "img"
    assert chart["aria-labelledby"] in {title.get("id") for title in page.all("title")}
    assert "Tasks by grade: easy 3, hard 1" in page.text
    assert [rect["width"] for rect in page.all("rect") if rect["class"] == "bar"][:2] == ["75.00%", "25.00%"]


def test_a_measured_result_is_drawn_where_its_value_lies_in_the_range(tmp_path):
    header = "  benchmarks: [{policy: a, metric: mean_return, value: 0.5}, {policy: b, metric: x, value: many}]\n"
    card = CARD.replace("  action:", f"{header}  action:", 1)
    page = preview(write_environment(tmp_path, files={"README.md": card}) / "README.md")
    meters = [svg for svg in page.all("svg") if svg.get("class") != "chart"]
    assert [svg["aria-label"] for svg in meters] == ["75%"]  # from -1 to 1
