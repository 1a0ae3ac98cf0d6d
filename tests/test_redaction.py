"""No output repeats what looks like a token, whichever finding stands there and whatever holds it."""

from __future__ import annotations

import json
import random
import string
import time

import pytest

from hfenv.secret_shapes import find_secrets, holds_secret, redacted
from tests.support import replace_in, run_cli, write_environment


def drawn(length, letters=string.ascii_letters + string.digits):
    """Made-up characters, the same each time, and put together here so that no scanner takes them for a token."""
    return "".join(random.Random(length).choices(letters, k=length))  # noqa: S311


# An issuer's prefix, and a secret behind it.
TOKENS = [
    ("hf_", drawn(34)),
    ("sk-", drawn(40)),
    ("sk-ant-", drawn(90)),
    ("ghp_", drawn(36)),
    ("github_pat_", drawn(70)),
    ("glpat-", drawn(20)),
    ("AKIA", drawn(16, string.ascii_uppercase)),
    ("AIza", drawn(35)),
    ("xoxb-", drawn(30)),
    ("pypi-", "AgEIcHlwaS5vcmc" + drawn(80)),
    ("sk_" + "live_", drawn(24)),
]
PREFIX, BODY = TOKENS[0]
TOKEN = PREFIX + BODY
FORMATS = ("human", "json", "quiet", "github", "sarif", "junit")


@pytest.fixture
def root(tmp_path):
    return write_environment(tmp_path / "adding")


@pytest.mark.parametrize(("prefix", "body"), TOKENS)
def test_a_prefix_is_left_of_a_token(prefix, body):
    token = prefix + body
    assert [found for _, _, found in find_secrets(token.encode())] == [token.encode()]
    for text in ("{}", "'{}' is no version", "/environment/{}/x", "env/{}.py", "a\n{}\n", "{0} and {0}"):
        assert redacted(text.format(token)) == text.format(f"{prefix}...")
        assert redacted(redacted(text.format(token))) == redacted(text.format(token))
    assert redacted(f"'{token[: len(prefix) + 15]}...' is no version") == f"'{prefix}...' is no version"
    assert holds_secret(f"  code: {{version: {token}}}")


def test_a_password_and_a_private_key_go():
    assert redacted(f"'https://bob:{drawn(12)}@host.org/x' leads nowhere") == "'https://.../x' leads nowhere"
    begin = "-----BEGIN " + "PRIVATE KEY-----"
    assert drawn(64) not in redacted(f"'{begin}\\n{drawn(64)}'")
    assert holds_secret(drawn(64))


@pytest.mark.parametrize(
    "text",
    [
        "hf_" + "example" * 6,
        "see https://host.org/a:b and https://host.org:8000/x@y",
        "task-" + "a" * 40,
        "hf_hub, sk-learn and ghp_x",
        "'a name that is far too long to be shown as a whole, as many a...'",
        "env/\udcff.py",
    ],
)
def test_what_is_no_token_stays(text):
    assert redacted(text) == text


def as_version(root):
    replace_in(root / "README.md", 'code: {version: "1.0.0"', f'code: {{version: "{TOKEN}"')


def as_key(root):
    replace_in(root / "README.md", "  limits:", f"  {TOKEN}: 1\n  limits:")


def as_id(root):
    replace_in(root / "README.md", "environment:\n", f"x: *{TOKEN}\nenvironment:\n")


def as_entry(root):
    replace_in(root / "README.md", "reward.py:score", f"reward.py:{TOKEN}")


def as_link(root):
    replace_in(root / "README.md", "## Usage\n", f"## Usage\n[a](docs/{TOKEN}.md)\n")


def as_heading(root):
    replace_in(root / "README.md", "## Limitations\n", f"## Limitations of {TOKEN}\n")


def as_module(root):
    replace_in(root / "env" / "environment.py", "import hfenv\n", f"import hfenv\nimport {TOKEN}\n")


def as_file(root):
    (root / "env" / f"{TOKEN}.py").write_text("def broken(:\n", encoding="utf-8")


def as_reason(root):
    replace_in(root / "README.md", "license: apache-2.0", f"license: acme-1.0  # hfenv: ignore[HFE604] {TOKEN}")


def as_row(root):
    row = {"id": TOKEN, "question": "?", "answer": "1", "difficulty": "easy"}
    (root / "tasks" / "train.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n", encoding="utf-8")


@pytest.mark.parametrize(
    "place", [as_version, as_key, as_id, as_entry, as_link, as_heading, as_module, as_file, as_reason, as_row]
)
def test_no_output_repeats_a_token(root, place):
    place(root)
    base = root.parent / "base.json"
    calls = [("--format", fmt) for fmt in FORMATS]
    calls += [("--write-baseline", base), ("--diff",), ("--diff", "--format", "json"), ("--baseline", base), ("--fix",)]
    for options in calls:
        result = run_cli("validate", root, *options)
        assert BODY not in result.stdout + result.stderr, options
    if base.exists():
        assert BODY not in base.read_text(encoding="utf-8")


def test_other_commands_do_not_repeat_it_either(root):
    as_version(root)
    replace_in(root / "README.md", "tags: [", f"tags: [{TOKEN}, &{TOKEN} ")
    for command in (["status", root], ["push", "local/adding", root, "--hub", "local"], ["card", "preview", root]):
        result = run_cli(*command)
        assert BODY not in result.stderr
    for command in (["validate", root / TOKEN], ["status", root / TOKEN]):
        result = run_cli(*command)
        assert result.exit_code != 0
        assert (PREFIX + "..." in result.stderr, BODY in result.stderr) == (True, False)


def test_a_line_that_a_repair_touches_is_not_shown(root):
    replace_in(root / "README.md", "license: apache-2.0", f"x: no  # {TOKEN}\nlicense: Apache-2.0  # {TOKEN}")
    # By itself a card isn't searched for secrets, so that no finding says of the line that it is private.
    card = root / "README.md"
    for fmt in FORMATS:
        assert BODY not in run_cli("validate", card, "--format", fmt).stdout
    diff = run_cli("validate", card, "--diff").stdout
    assert "not shown" in diff
    assert BODY not in diff


@pytest.mark.parametrize("piece", ["sk-", "hf_", "://a:b", "-----BEGIN PRIVATE KEY-----", "x://aaaaaa:", "AIza"])
def test_a_long_line_is_looked_through_once(piece):
    started = time.process_time()
    redacted(piece * 60_000)
    assert time.process_time() - started < 8  # with every start looked at to the end, it would be minutes
