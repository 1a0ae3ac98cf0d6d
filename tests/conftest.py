"""Every test runs apart from the user's own data: temporary folders, no token, no telemetry."""

import os
import tempfile
from pathlib import Path

import pytest

# The Hub client and `datasets` read their folders when they are imported, which happens before any fixture runs.
_SESSION = tempfile.TemporaryDirectory(prefix="hfenv-tests-", ignore_cleanup_errors=True)
_CLIENT_HOME = Path(_SESSION.name) / "hf"

for _name in [name for name in os.environ if name.startswith(("HF_", "HFENV_", "HUGGING_FACE_", "HUGGINGFACE_"))]:
    del os.environ[_name]
os.environ.update(
    {
        "HF_HOME": str(_CLIENT_HOME),
        "HFENV_HOME": str(Path(_SESSION.name) / "home"),
        "HFENV_CACHE": str(Path(_SESSION.name) / "cache"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "DO_NOT_TRACK": "1",
    }
)


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory, monkeypatch):
    """A home and a cache of hfenv for each test; what it starts inherits them."""
    folder = tmp_path_factory.mktemp("hfenv")
    monkeypatch.setenv("HFENV_HOME", str(folder / "home"))
    monkeypatch.setenv("HFENV_CACHE", str(folder / "cache"))
    for name in ("HF_TOKEN", "HF_ENDPOINT", "HF_HUB_OFFLINE", "HFENV_HUB", "HFENV_OFFLINE", "HFENV_LOCAL_HUB"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True, scope="session")
def _remove_session_folder():
    yield
    _SESSION.cleanup()
