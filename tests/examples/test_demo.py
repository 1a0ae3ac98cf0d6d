"""`hfenv demo`: the round trip itself, with few episodes."""

from __future__ import annotations

import os

import pytest

from tests.support import run_cli


@pytest.mark.slow
def test_the_round_trip(tmp_path, monkeypatch):
    monkeypatch.setenv("HFENV_HOME", str(tmp_path / "mine"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    result = run_cli("demo", "--episodes", "12", "--format", "json")
    assert result.exit_code == 0, result.stderr
    report = result.json
    assert report["requests"]["warm"] == 0
    assert report["requests"]["cold"] > 0
    assert report["mean_u"]["oracle"] >= 0.95
    assert 0.5 <= report["mean_u"]["heuristic"] <= 0.9
    assert report["mean_u"]["random"] <= 0.1
    assert [row["versions"] for row in report["rows"]][::3] == [
        "1.0.0 / 1.0.0 / 1.0.0",
        "1.0.0 / 1.0.0 / 2.0.0",
        "1.0.0 / 1.0.0 / 1.0.0",
    ]
    revisions = [row["revision"] for row in report["rows"]][::3]
    assert revisions[0] != revisions[1] == revisions[2]
    assert "status: reward 1.0.0: changed" in result.stderr
    assert os.environ["HFENV_HOME"] == str(tmp_path / "mine")
    assert not (tmp_path / "mine").exists()
    assert list(tmp_path.glob("hfenv-*")) == []
