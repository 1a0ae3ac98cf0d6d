"""The pytest fixture `hfenv_hub`: a served hub for the tests of environments and tools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

# pytest imports this module in every run where hfenv is installed: everything slow is imported inside the fixture.


@dataclass(frozen=True)
class ServedHub:
    """A hub that answers at `endpoint` and stores under `root`."""

    endpoint: str
    root: Path

    def token(self, user: str, role: str = "write") -> str:
        """A new token of `user`, who needs no further set-up; `role` is "read" or "write"."""
        from hfenv.localhub.accounts import Role
        from hfenv.localhub.users import TokenStore

        return TokenStore(self.root).create(user, Role(role))

    def environment(self, token: str | None = None) -> dict[str, str]:
        """Environment variables for a subprocess that uses this hub."""
        from hfenv.localhub.clientenv import variables

        return variables(self.endpoint, self.root.parent / "client", token)


@pytest.fixture(scope="session")
def hfenv_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedHub]:
    """An embedded hub on a free port of 127.0.0.1, one per test session; its storage is temporary."""
    from hfenv.localhub.serve import BackgroundServer

    root = tmp_path_factory.mktemp("hfenv-hub") / "storage"
    with BackgroundServer(root) as server:
        yield ServedHub(server.url, root)
