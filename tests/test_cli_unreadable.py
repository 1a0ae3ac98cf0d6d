"""Cards that can't be read or used: every command says so in a sentence, with exit 3, and changes nothing."""

from __future__ import annotations

import pytest

from tests.support import CARD, run_cli, write_environment

BROKEN = {
    "unterminated": CARD.replace("---\n# Adding", "# Adding").encode(),
    "tabs": CARD.replace("  spec:", "\tspec:").encode(),
    "not UTF-8": CARD.replace("Add two", "Ad\u00e9 two").encode("latin-1"),
    "infinite range": CARD.replace("[-1.0, 1.0]", "[-.inf, 1.0]").encode(),
    "infinite limit": CARD.replace("max_steps: 1", "step_timeout_s: .nan").encode(),
}
COMMANDS = (["status"], ["push", "local/x"], ["run"], ["bump", "-m", "x", "--path"])


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HFENV_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HFENV_HUB", "local")


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_an_unreadable_card_is_a_sentence(tmp_path, kind, command):
    root = write_environment(tmp_path / "x", files={"README.md": BROKEN[kind]})
    result = run_cli(*command, root)
    assert result.exit_code == (1 if command[0] == "push" and kind.startswith("infinite") else 3), result.stderr
    assert "README.md" in result.stderr
    assert (root / "README.md").read_bytes() == BROKEN[kind]


@pytest.mark.parametrize("kind", BROKEN)
def test_validate_tells_unreadable_from_wrong(tmp_path, kind):
    root = write_environment(tmp_path / "x", files={"README.md": BROKEN[kind]})
    assert run_cli("validate", root).exit_code == (1 if kind.startswith("infinite") else 3)


def test_a_byte_order_mark_is_read_over_with_a_warning(tmp_path):
    root = write_environment(tmp_path / "x", files={"README.md": b"\xef\xbb\xbf" + CARD.encode()})
    result = run_cli("validate", root, "--format", "json")
    assert result.exit_code == 0
    assert [(f["rule"], f["severity"]) for f in result.json["findings"]] == [("HFE008", "warning")]
    assert run_cli("push", "local/x", root).exit_code == 0
    assert (root / "README.md").read_bytes().startswith(b"\xef\xbb\xbf---")
