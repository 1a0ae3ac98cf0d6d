"""A fresh embedded hub, cache and trust store for every test."""

from __future__ import annotations

import shutil

import pytest

from hfenv.hub.client import hub_key
from tests.hub.faults import FaultProxy
from tests.support import run_cli, write_environment

STEADY = "ada/steady"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """The user's hfenv folder; the embedded hub stores under `home / "hub"`."""
    folder = tmp_path / "home"
    monkeypatch.setenv("HFENV_HOME", str(folder))
    for name in ("HFENV_CACHE", "HFENV_LOCAL_HUB", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HFENV_HUB", "local")
    monkeypatch.setattr("hfenv.hub.patience.WAITS", (0.005, 0.01, 0.02, 0.04))
    return folder


@pytest.fixture
def adding(tmp_path):
    """A small environment, not pushed yet."""
    return write_environment(tmp_path / "adding")


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


@pytest.fixture(scope="session")
def released(hfenv_hub, tmp_path_factory):
    """An environment on the served hub; returns its folder and its revision."""
    folder = tmp_path_factory.mktemp("steady")
    root = write_environment(folder / "steady", files={"tasks/resources/big.bin": bytes(range(256)) * 1200})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HFENV_HOME", str(folder / "home"))
        patch.setenv("HF_TOKEN", hfenv_hub.token("ada"))
        done = run_cli("push", STEADY, root, "--hub", hfenv_hub.endpoint, "--format", "json")
    assert done.exit_code == 0, done.stderr
    return root, done.json["revision"]


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """A small environment that was pushed once, with its home, for `pushed` to copy."""
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HFENV_HOME", str(folder / "home"))
        patch.delenv("HFENV_CACHE", raising=False)
        done = run_cli(
            "push", "local/adding", write_environment(folder / "adding"), "--hub", "local", "--format", "json"
        )
    assert done.exit_code == 0, done.stderr
    return folder, done.json["revision"]


@pytest.fixture
def pushed(home, tmp_path, template):
    """The same, pushed as `local/adding`; returns the folder and the revision.

    Pushed once and copied, under the name that the new home gives its hub: that takes a tenth of the time.
    """
    source, revision = template
    root = shutil.copytree(source / "adding", tmp_path / "adding", dirs_exist_ok=True)
    shutil.copytree(source / "home", home)
    (cached,) = (home / "cache" / "hub").iterdir()
    before, now = cached.name, hub_key("local")
    cached.rename(cached.with_name(now))
    for told in (root / ".hfenv").glob("*.json"):
        told.write_text(told.read_text(encoding="utf-8").replace(before, now), encoding="utf-8")
    return root, revision
