"""An organisation's policy: found, read strictly, and enforced wherever somebody else's work is taken into use."""

from __future__ import annotations

import pytest

import hfenv
from hfenv.components.digest import joint_digest
from hfenv.components.ownership import Component
from hfenv.components.release import read_record
from hfenv.errors import PolicyError, UnreadableError
from hfenv.hub.policy import active, read_policy
from tests.support import replace_in, run_cli

REPO = "local/adding"


@pytest.fixture
def rule(home, monkeypatch, tmp_path):
    """Sets the machine's policy to these lines; the working folder is an empty one."""
    monkeypatch.chdir(tmp_path)

    def write(text: str):
        home.mkdir(exist_ok=True)
        path = home / "hfenv-policy.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


ALLOWING = """\
format = 1
namespaces = ["Local", "org"]
licenses = ["Apache-2.0"]
endpoints = ["local", "https://hub.example.org"]
isolation = "inline"
trust_flags = true
"""


@pytest.mark.slow
def test_what_a_policy_allows_goes_on(pushed, rule, tmp_path):
    rule(ALLOWING)
    hfenv.load(REPO, hub="local", trust_remote_code=True).close()
    assert run_cli("pull", REPO, "--to", tmp_path / "pulled").exit_code == 0
    assert (
        run_cli("run", tmp_path / "pulled", "--policy", "oracle", "--episodes", 1, "--trust-remote-code").exit_code == 0
    )


RULES = ['namespaces = ["org"]', '\nlicenses = ["mit"]', 'endpoints = ["hf"]', 'min_rating = "C"', "namespaces = []"]


@pytest.mark.slow
def test_what_it_doesnt_allow_is_refused_everywhere(pushed, rule, tmp_path):
    _, revision = pushed
    pulled = tmp_path / "pulled"
    assert run_cli("pull", REPO, "--to", pulled).exit_code == 0
    for text in RULES:
        where = f"{rule(text)}:{2 if text.startswith(chr(10)) else 1}"
        for ref in (REPO, f"{REPO}@{revision}", str(pulled)):
            for load in (hfenv.load, hfenv.load_tasks, hfenv.load_reward):
                with pytest.raises(PolicyError, match=r"may not use|is the least") as caught:
                    load(ref, hub="local", trust_remote_code=True)
                assert where in caught.value.message
        for command in (("pull", REPO, "--to", tmp_path / "again"), ("trust", "add", REPO), ("trust", "add", pulled),
                        ("lock", REPO)):  # fmt: skip
            result = run_cli(*command)
            assert result.exit_code == 7, (command, result.stderr)
            assert where in result.stderr
        assert not (tmp_path / "again").exists()


def test_ones_own_folder_needs_no_policys_leave(adding, rule):
    rule('namespaces = []\nisolation = "sandbox"\ntrust_flags = false')
    hfenv.load(str(adding)).close()


def test_flags_dont_take_the_place_of_trust(pushed, rule):
    path = rule("trust_flags = false")
    with pytest.raises(PolicyError, match=f"{path}:1"):
        hfenv.load(REPO, hub="local", trust_remote_code=True)
    assert run_cli("trust", "add", REPO).exit_code == 0
    hfenv.load(REPO, hub="local", trust_remote_code=True).close()
    hfenv.load(REPO, hub="local").close()


def test_isolation_that_there_is_is_enforced(pushed, rule):
    rule('isolation = "process"')
    with pytest.raises(PolicyError, match="isolation 'inline'"):
        hfenv.load(REPO, hub="local", trust_remote_code=True)
    with pytest.raises(PolicyError):
        hfenv.EnvironmentPool(REPO, hub="local", trust_remote_code=True, backend="inline")
    assert run_cli("run", REPO, "--policy", "oracle", "--episodes", 1, "--trust-remote-code").exit_code == 0
    rule('isolation = "sandbox"')
    result = run_cli("run", REPO, "--policy", "oracle", "--episodes", 1, "--trust-remote-code")
    assert result.exit_code == 7
    assert "can't run code with isolation 'sandbox' yet" in result.stderr


@pytest.mark.slow
def test_a_rating_counts_while_it_is_fresh(pushed, rule):
    root, _ = pushed
    record = read_record(root)
    digest = joint_digest({c: record.components[c].exact for c in Component})
    rule('min_rating = "B"')
    for mark, fine in ((f'{{rating: C, digests: "{digest}"}}', False), ('{rating: A, digests: "x"}', False),
                       (f'{{rating: A, digests: "{digest}"}}', True)):  # fmt: skip
        card = root / "README.md"
        text = card.read_text().split("  audit: ")
        if len(text) > 1:
            text[1] = text[1].split("\n", 1)[1]
        card.write_text("".join(text))
        replace_in(card, '  spec: "1"\n', f'  spec: "1"\n  audit: {mark}\n')
        assert run_cli("push", REPO, root).exit_code == 0
        if fine:  # the release itself has none: it came later, on the head's card
            hfenv.load(f"{REPO}@1.0.0", hub="local", trust_remote_code=True).close()
            continue
        with pytest.raises(PolicyError):
            hfenv.load(f"{REPO}@1.0.0", hub="local", trust_remote_code=True)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('format = 1\nnamespace = ["x"]', 2, "no rule 'namespace'"),
        ('namespaces = "org"', 1, "isn't a list"),
        ("\n\nlicenses = [1]", 3, "isn't a list"),
        ('isolation = "docker"', 1, "isn't one of inline"),
        ('min_rating = "U"', 1, "isn't one of A"),
        ('trust_flags = "no"', 1, "isn't true or false"),
        ("format = 2", 1, "isn't the number 1"),
        ("format = true", 1, "isn't the number 1"),
        ('endpoints = ["ftp://x"]', 1, "is no hub"),
        ("[licenses]\na = 1", 1, "isn't a list"),
    ],
)
def test_what_isnt_known_is_an_error_with_its_line(tmp_path, text, line, what):
    path = tmp_path / "p.toml"
    path.write_text(text)
    with pytest.raises(UnreadableError, match=what) as caught:
        read_policy(path)
    assert f"{path}:{line}:" in caught.value.message


def test_a_mark_of_byte_order_is_no_error(tmp_path):
    path = tmp_path / "p.toml"
    path.write_bytes(b"\xef\xbb\xbfmin_rating = 'B'")
    assert read_policy(path).min_rating == "B"


@pytest.mark.parametrize("content", [b"namespaces = [", b"\xff\xfe", b"a = 1\na = 2", b"a = " + b"[" * 9999])
def test_a_policy_that_cant_be_read_stops_every_load(pushed, rule, content):
    rule("").write_bytes(content)
    assert run_cli("run", REPO, "--policy", "random", "--trust-remote-code").exit_code == 3


def test_a_policy_that_is_named_and_isnt_there_stops_every_load(pushed, monkeypatch, tmp_path):
    monkeypatch.setenv("HFENV_POLICY", str(tmp_path / "none.toml"))
    result = run_cli("run", REPO, "--policy", "random", "--trust-remote-code")
    assert result.exit_code == 3
    assert "none.toml" in result.stderr


@pytest.mark.slow
def test_policies_hold_together_and_none_loosens_another(pushed, rule, monkeypatch, tmp_path):
    rule('namespaces = ["org"]')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "a" / "hfenv-policy.toml").write_text('namespaces = ["local"]')
    named = tmp_path / "named.toml"
    named.write_text("format = 1")
    monkeypatch.setenv("HFENV_POLICY", str(named))
    monkeypatch.chdir(below)
    assert [policy.path.name for policy in active()] == ["named.toml", "hfenv-policy.toml", "hfenv-policy.toml"]
    with pytest.raises(PolicyError):
        hfenv.load(REPO, hub="local", trust_remote_code=True)
