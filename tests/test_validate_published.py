"""What the Hub and its readers see: links, licences, secrets, sizes; names and line ends that travel badly."""

import pytest

from hfenv.components.checks import publishing as checks_publishing
from hfenv.components.validation import validate
from tests.support import replace_in, run_cli, write_environment

TOKEN = "hf_" + "QmFzZTY0RW5jb2RlZFNlY3JldFRleHRzSQ"


@pytest.fixture
def root(tmp_path):
    return write_environment(tmp_path / "adding", files={"docs/a page.md": "x", "docs/plot.png": b"\x89PNG\0"})


def found(root):
    return [(f.rule, f.path, f.line, f.column) for f in validate(root).findings]


def overview(root, text):
    replace_in(root / "README.md", "Sums, for tests.", text)
    return [(f.rule, f.line, f.column, f.message) for f in validate(root).findings]


@pytest.mark.parametrize(
    "text",
    [
        '[a](docs/plot.png) ![b](./docs/plot.png "title") [c](<docs/a page.md>) [d](docs/a%20page.md#top)',
        "[folder](docs) [folder](docs/) [self](#overview) [up](docs/../LICENSE) [q](LICENSE?raw=true)",
        "[w](https://example.org/x.png) <mailto:a@example.org> [m](mailto:a@example.org) //x",
        "`[a](missing.md)`\n\n```md\n[a](missing.md)\n```\n\n    code",
        '[ref]\n\n[ref]: docs/plot.png "t"',
        '<img alt="x" src="docs/plot.png"> <a href="#tasks">t</a>',
        "f(x)[0] and [x] (y)",
        "A note.[^1]\n\n[^1]: See the dictionary.",
    ],
)
def test_links_that_lead_somewhere(root, text):
    assert overview(root, text) == []


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("See [it](missing.md).", 10, "leads to no file"),
        ("表 🎉 ![图](docs/图.png)", 10, "docs/图.png"),
        ("[out](../../etc/passwd)", 7, "leaves the environment"),
        ("[root](/docs/plot.png)", 8, "Hub's root"),
        ("[ref]: docs/none.png", 8, "leads to no file"),
        ('<img width=3 src="none.png">', 19, "leads to no file"),
        ("[x](docs/Plot.png)", 5, "leads to no file"),
    ],
)
def test_links_that_lead_nowhere(root, text, column, says):
    ((rule, line, at, message),) = overview(root, text)
    assert (rule, line, at) == ("HFE607", 21, column)
    assert says in message


def test_a_bare_card_is_not_asked_for_its_links(root):
    overview(root, "[x](missing.md)")
    report = validate(root / "README.md")
    assert report.findings == ()
    assert "HFE607" in {skipped.rule for skipped in report.skipped}


@pytest.mark.parametrize(
    "secret",
    [
        TOKEN,
        "sk-" + "proj-4fJq9Zr2Lw8Xc6Vb1Nm3Kd7Hs5Gt0Py",
        "ghp_" + "R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m",
        "AKIA" + "Q7R2T9W4K6M8P3Z5",
        "xoxb-" + "2948572938-kJhGfDsAqW",
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        "postgres://" + "admin:Tr0ub4dor@db.internal/x",
    ],
)
def test_a_secret_is_found_at_its_line_and_never_repeated(root, secret):
    (root / "env" / "words.py").write_text(f'# é\nASK = ""\nKEY = "{secret}"\n', encoding="utf-8")
    ((rule, path, line, column),) = found(root)
    assert (rule, path, line, column) == ("HFE608", "env/words.py", 3, 8)
    for fmt in ("human", "json"):
        result = run_cli("validate", root, "--format", fmt)
        assert result.exit_code == 1
        assert secret not in result.stdout + result.stderr


def test_a_secret_on_the_card_and_in_a_task(root):
    replace_in(root / "README.md", "# what it is about", f"# {TOKEN}")
    (root / "tasks" / "test.jsonl").write_text(
        '{"id": "x", "question": "' + TOKEN + '", "answer": "1", "difficulty": "easy"}\n', encoding="utf-8"
    )
    assert [(rule, path) for rule, path, _, _ in found(root)] == [
        ("HFE608", "README.md"),
        ("HFE608", "tasks/test.jsonl"),
    ]
    assert TOKEN not in run_cli("validate", root).stdout


@pytest.mark.parametrize(
    "harmless",
    ["hf_" + "x" * 34, "sk-" + "your-key-goes-here-please", "AKIA" + "IOSFODNN7EXAMPLE", "task-" + "a" * 40,
     "https://hf.co/spaces:x/y@main", "hf_hub_download", "http://user:${PASSWORD}@host/"],
)  # fmt: skip
def test_what_only_looks_like_a_secret(root, harmless):
    (root / "env" / "words.py").write_text(f'ASK = ""\nKEY = "{harmless}"\n', encoding="utf-8")
    assert found(root) == []


def test_addresses_with_made_up_users_are_common_in_tasks(root):
    row = '{"id": "x", "question": "ftp://bob:hunter22@files.net", "answer": "1", "difficulty": "easy"}\n'
    (root / "tasks" / "test.jsonl").write_text(row, encoding="utf-8")
    assert found(root) == []


def test_binary_files_are_not_looked_through(root):
    (root / "docs" / "plot.png").write_bytes(b"\x89PNG\0" + TOKEN.encode())
    assert found(root) == []


@pytest.mark.parametrize("name", ["tests/secrets.yml", "env/service-account-prod.json", "tests/prod.env"])
def test_files_that_usually_hold_credentials(root, name):
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("{}", encoding="utf-8")
    assert found(root) == [("HFE609", name, 0, 0)]


def test_sizes_that_the_hub_does_not_take(root, monkeypatch):
    monkeypatch.setattr(checks_publishing, "_LARGEST_FILE", 2000)
    monkeypatch.setattr(checks_publishing, "_MOST_IN_FOLDER", 3)
    monkeypatch.setattr(checks_publishing, "_MOST_FILES", 10)
    (root / "docs" / "long.txt").write_text("x" * 2001, encoding="utf-8")
    for n in range(2):
        (root / "docs" / f"{n}.txt").write_text("", encoding="utf-8")
    assert found(root) == [("HFE610", ".", 0, 0), ("HFE610", "docs", 0, 0), ("HFE610", "docs/long.txt", 0, 0)]


def test_names_in_another_form_and_line_ends(root):
    (root / "env" / "cafe\u0301.py").write_bytes(b"A = 1\n")
    (root / "env" / "words.py").write_bytes(b'A = 1\nASK = ""\r\n')
    (root / "docs" / "x.txt").write_bytes(b"not a component's\r\n")
    (root / "reward" / "data.bin").write_bytes(b"\r\n")
    assert found(root) == [("HFE208", "env/cafe\u0301.py", 0, 0), ("HFE209", "env/words.py", 2, 1)]


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("license: apache-2.0", []),
        ("license: [mit, cc-by-4.0]", []),
        ("license: Apache-2.0", ["HFE604"]),
        ("license: GPL-3.0-or-later", ["HFE604"]),
        ("license: other", ["HFE605"]),
        ("license: other\nlicense_name: ours", []),
        ("license: mit\nlanguage: [en, zh, yue, code, multilingual]", []),
        ("license: mit\nlanguage: [English, e]", ["HFE606", "HFE606"]),
        ("license: mit\nlanguage: 中文", ["HFE606"]),
    ],
)
def test_licences_and_languages(root, line, rules):
    replace_in(root / "README.md", "license: apache-2.0", line)
    assert [rule for rule, _, _, _ in found(root)] == rules


@pytest.mark.parametrize(
    "text",
    ["](a \"" * 60000, "<a " * 100000, "](" + " " * 400000, "`" * 300000, " ".join("`" * n for n in range(1, 900)),
     "[" * 300000, "[a](" * 80000, "![x](" + "(" * 300000, "[a]:\t" * 80000, "``` `" * 60000, "[x](<" * 60000],
)  # fmt: skip
@pytest.mark.timeout(20)
def test_markdown_made_to_be_slow_is_read_in_passing(root, text):
    replace_in(root / "README.md", "Sums, for tests.", text)
    assert {rule for rule, *_ in found(root)} <= {"HFE607", "HFE110"}  # a line of backticks opens a block


def test_code_hides_links_and_text_behind_it_does_not(root):
    text = "``[a](x.md)`` `b` [c](y.md) ```` [d](z.md) ```\n\n~~~md\n[e](e.md)\n```\n~~~\n\n[f](f.md)"
    assert [message.split("'")[1] for _, _, _, message in overview(root, text)] == ["y.md", "z.md", "f.md"]
