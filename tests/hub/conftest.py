"""A fresh embedded hub, cache and trust store for every test."""

from __future__ import annotations

import pytest

from tests.hub.faults import FaultProxy
from tests.support import run_cli, write_environment


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """The user's hfenv folder; the embedded hub stores under `home / "hub"`."""
    folder = tmp_path / "home"
    monkeypatch.setenv("HFENV_HOME", str(folder))
    for name in ("HFENV_CACHE", "HFENV_LOCAL_HUB", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HFENV_HUB", "local")
    return folder


@pytest.fixture
def adding(tmp_path):
    """A small environment, not pushed yet."""
    return write_environment(tmp_path / "adding")


@pytest.fixture
def pushed(adding):
    """The same, pushed as `local/adding`; returns the folder and the revision."""
    result = run_cli("push", "local/adding", adding, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return adding, result.json["revision"]


@pytest.fixture
def proxy(hfenv_hub, monkeypatch):
    """A served hub behind a proxy that can be told to misbehave; the user is ada, in a namespace of her own."""
    with FaultProxy(hfenv_hub.endpoint) as proxy:
        monkeypatch.setenv("HFENV_HUB", proxy.url)
        monkeypatch.setenv("HF_TOKEN", hfenv_hub.token("ada"))
        yield proxy


@pytest.fixture
def repo_name(tmp_path):
    """A repository name of this test's own, since the served hub lives as long as the session."""
    return f"ada/{tmp_path.parent.name}-{tmp_path.name}"[-60:].lower().replace("_", "-").replace("--", "-").strip("-")
