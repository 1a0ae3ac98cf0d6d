"""Cures that are certain: only reported spans change, a second time changes nothing, nothing is written early."""

import pytest

from hfenv.components.checks.fixing import apply_fixes, plan_fixes
from hfenv.components.validation import validate
from hfenv.errors import ConflictError
from tests.support import CARD, replace_in, run_cli, write_environment


@pytest.fixture
def root(tmp_path):
    return write_environment(tmp_path / "adding")


def test_a_plan_writes_nothing_and_says_what_it_would_change(root):
    replace_in(root / "README.md", "license: apache-2.0", "license: 'Apache 2.0'  # ours")
    before = (root / "README.md").read_bytes()
    plan = plan_fixes(root)
    assert (root / "README.md").read_bytes() == before == plan.before
    assert plan.after == before.replace(b"'Apache 2.0'", b"'apache-2.0'")
    assert [finding.rule for finding in plan.applied] == ["HFE604"]
    assert plan.report.findings == ()


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_a_second_time_changes_nothing(root, ends):
    card = CARD.replace("license: apache-2.0", "license: [MIT, Apache 2.0]\nlanguage: [English, ZH]").replace(
        "\n", ends
    )
    (root / "README.md").write_bytes(b"\xef\xbb\xbf" + card.encode())
    apply_fixes(plan_fixes(root))
    once = (root / "README.md").read_bytes()
    assert b"[mit, apache-2.0]" in once
    assert b"[en, zh]" in once
    plan = plan_fixes(root)
    assert not plan.changes
    apply_fixes(plan)
    assert (root / "README.md").read_bytes() == once


def test_an_executable_bit_comes_back(root, tmp_path, monkeypatch):
    monkeypatch.setenv("HFENV_HOME", str(tmp_path / "home"))
    (root / "env" / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (root / "env" / "run.sh").chmod(0o755)
    assert run_cli("push", "local/adding", root, "--hub", "local").exit_code == 0
    (root / "env" / "run.sh").chmod(0o640)
    assert [finding.rule for finding in validate(root).findings] == ["HFE207"]
    plan = plan_fixes(root)
    assert plan.executable == ("env/run.sh",)
    apply_fixes(plan)
    assert (root / "env" / "run.sh").stat().st_mode & 0o777 == 0o750
    assert validate(root).findings == ()


def test_a_card_that_changed_since_the_plan_is_left_as_it_is(root):
    replace_in(root / "README.md", "license: apache-2.0", "license: MIT")
    plan = plan_fixes(root)
    replace_in(root / "README.md", "# Adding", "# Adding up")
    before = (root / "README.md").read_bytes()
    with pytest.raises(ConflictError):
        apply_fixes(plan)
    assert (root / "README.md").read_bytes() == before
    assert {path.name for path in root.iterdir()} >= {"README.md", "env"}
    assert not list(root.glob(".hfenv-*"))


def test_an_environment_without_a_card_has_nothing_to_fix(root):
    (root / "README.md").unlink()
    plan = plan_fixes(root)
    assert not plan.changes
    assert [finding.rule for finding in plan.report.findings] == ["HFE001"]
