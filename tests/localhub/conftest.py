"""The real Hub client, pointed at the embedded hub in-process and served."""

import contextlib
import functools
import itertools
import subprocess
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from hfenv.localhub.pytest_plugin import ServedHub


@dataclass
class Client:
    """A hub, and the Hub client's API objects for its users."""

    endpoint: str
    root: Path
    token: str
    served: ServedHub
    session: object = None

    @property
    def api(self):
        return self.api_for(self.token)

    def api_for(self, token):
        from huggingface_hub import HfApi

        return HfApi(endpoint=self.endpoint, token=token)

    def new_user(self, name, role="write"):
        return self.served.token(name, role)

    def git_folder(self, repo, kind="datasets"):
        return self.root / kind / f"{repo}.git"

    def git(self, repo, *arguments, kind="datasets"):
        """Run git in the stored repository and return what it prints; it must succeed."""
        done = subprocess.run(
            ["git", "-C", str(self.git_folder(repo, kind)), *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def assert_sound(self, repo, kind="datasets"):
        assert "error" not in self.git(repo, "fsck", "--full", "--strict", kind=kind)


@pytest.fixture(scope="session")
def in_process_hub(tmp_path_factory):
    """A hub that is reached without a socket, and the transport to it."""
    from hfenv.localhub.app import create_app
    from hfenv.localhub.transport import ENDPOINT, InProcessTransport

    root = tmp_path_factory.mktemp("in-process") / "storage"
    with InProcessTransport(create_app(root)) as transport:
        yield ServedHub(ENDPOINT, root), transport


@contextlib.contextmanager
def pointed_at(endpoint, transport):
    """Point the Hub client and `datasets` at an endpoint, and restore what they were after it."""
    import datasets
    import huggingface_hub
    from huggingface_hub import constants, hf_api
    from huggingface_hub.utils._http import default_client_factory, hf_request_event_hook

    def factory():
        # As the client's own, but for the certificates, whose loading takes longer than most tests.
        hooks = {"request": [hf_request_event_hook]}
        return httpx2.Client(
            transport=transport, event_hooks=hooks, follow_redirects=True, timeout=None, verify=False, trust_env=False
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constants, "ENDPOINT", endpoint)
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}")
        patch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        patch.setattr(hf_api.api, "endpoint", endpoint)
        patch.setattr(datasets.config, "HF_ENDPOINT", endpoint)
        huggingface_hub.set_client_factory(factory)
        try:
            yield
        finally:
            huggingface_hub.set_client_factory(default_client_factory)


@pytest.fixture(params=["in-process", "served"])
def client(request):
    """The Hub client on a hub reached either way; its user is `alice`."""
    if request.param == "served":
        served, transport = request.getfixturevalue("hfenv_hub"), None
    else:
        served, transport = request.getfixturevalue("in_process_hub")
    with pointed_at(served.endpoint, transport):
        yield Client(served.endpoint, served.root, _token_of_alice(served), served)


@functools.cache
def _token_of_alice(served):
    return served.token("alice")


_COUNTER = itertools.count()


@pytest.fixture
def repo(client, request):
    """A new dataset repository of alice's with a name of its own."""
    stem = "".join(char if char.isalnum() else "-" for char in request.node.originalname)[:60].strip("-")
    name = f"alice/{stem}-{next(_COUNTER)}"
    client.api.create_repo(name, repo_type="dataset")
    return name


@pytest.fixture
def http(client):
    """Plain requests to the hub, as alice unless told else."""
    from huggingface_hub import get_session

    def send(method, path, token=client.token, **options):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        headers |= options.pop("headers", {})
        return get_session().request(method, f"{client.endpoint}{path}", headers=headers, **options)

    return send
