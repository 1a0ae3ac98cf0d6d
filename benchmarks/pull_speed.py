"""Cold pull of 200 files against the Hub client's `snapshot_download`: the same hub, the same bytes, in one run.

The hub is served by a process of its own. `hfenv pull` also verifies every file and lays the release out as a folder;
`snapshot_download` only fills its cache.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 0.6  # of snapshot_download's time
FILES = 200
ROUNDS = 5
REPO = "ada/speed"


@contextmanager
def served_hub(folder: Path) -> Iterator[str]:
    """The embedded hub in another process; yields its address."""
    from hfenv.localhub.users import Role, TokenStore

    os.environ["HF_TOKEN"] = TokenStore(folder / "storage").create("ada", Role.WRITE)
    environment = {**os.environ, "HFENV_LOCAL_HUB": str(folder / "storage"), "HFENV_FORMAT": "human"}
    command = [sys.executable, "-m", "hfenv.cli", "hub", "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        try:
            for line in server.stdout or ():
                if "http://" in line:
                    yield "http://" + line.split("http://", 1)[1].split()[0].rstrip(".")
                    break
        finally:
            server.terminate()


def environment(folder: Path) -> Path:
    """A small environment of 200 files, most of them resources of some kilobytes."""
    sys.path.insert(0, str(ROOT))
    from tests.support import write_environment

    root = write_environment(folder / "speed")
    draw = random.Random(7)  # noqa: S311
    resources = root / "tasks" / "resources"
    resources.mkdir(parents=True)
    for number in range(FILES - sum(1 for path in root.rglob("*") if path.is_file()) - 1):  # the record comes too
        (resources / f"{number:03}.bin").write_bytes(draw.randbytes(draw.randrange(500, 20_000)))
    return root


def main() -> int:
    """Print the figures; exit 1 when the ratio passes the limit or the bytes differ."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ.update({"HFENV_HOME": str(folder / "home"), "HF_HOME": str(folder / "hf")})
        os.environ.update({"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"})
        root = environment(folder)
        with served_hub(folder) as endpoint:
            push = [sys.executable, "-m", "hfenv.cli", "push", REPO, str(root), "--hub", endpoint]
            subprocess.run(push, check=True, capture_output=True)
            return measure(folder, endpoint)


def measure(folder: Path, endpoint: str) -> int:
    from huggingface_hub import HfApi, snapshot_download

    from hfenv.hub.client import connect
    from hfenv.hub.pull import pull
    from hfenv.hub.references import HubReference, parse_reference

    reference = parse_reference(f"{REPO}@main")
    assert isinstance(reference, HubReference)
    HfApi(endpoint=endpoint).whoami()  # both start with what they import, and with an open connection

    def ours(run: int) -> Path:
        os.environ["HFENV_CACHE"] = str(folder / f"cache{run}")
        with connect(endpoint) as hub:
            return pull(hub, reference, folder / f"ours{run}").folder

    def theirs(run: int) -> Path:
        where = folder / f"theirs{run}"
        return Path(snapshot_download(REPO, repo_type="dataset", endpoint=endpoint, cache_dir=where, revision="main"))

    taken: dict[str, list[float]] = {"hfenv": [], "client": []}
    sides: tuple[tuple[str, Callable[[int], Path]], ...] = (("hfenv", ours), ("client", theirs))
    same = True
    for run in range(ROUNDS + 1):
        found = {}
        for name, side in sides if run % 2 else reversed(sides):
            start = time.perf_counter()
            found[name] = side(run)
            if run:  # the first warms up
                taken[name].append(time.perf_counter() - start)
        same &= content(found["hfenv"]) == content(found["client"])
        shutil.rmtree(folder / f"theirs{run}")
    ratio = statistics.median(a / b for a, b in zip(taken["hfenv"], taken["client"], strict=True))
    for name, seconds in taken.items():
        print(f"{name:8} {statistics.median(seconds):6.3f} s")
    print(f"ratio    {ratio:6.3f}    (limit {LIMIT}); bytes {'the same' if same else 'DIFFER'}")
    return int(ratio > LIMIT or not same)


def content(root: Path) -> dict[str, bytes]:
    found = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    return {path: data for path, data in found.items() if not path.startswith(".hfenv/")}


if __name__ == "__main__":
    sys.exit(main())
