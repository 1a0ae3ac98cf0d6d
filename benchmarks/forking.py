"""Real processes without the second that starting one takes: children of a process that has imported everything."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for what the tests share


# What a push or pull imports on its way; the client's own modules only once its folders are set.
_WARM = (
    "anyio._backends._asyncio", "filelock", "hfenv.card.edit", "hfenv.localhub.app", "hfenv.localhub.transport",
    "httpx2", "huggingface_hub", "huggingface_hub.hf_api", "huggingface_hub.file_download", "huggingface_hub.lfs",
    "huggingface_hub._commit_api", "idna.core", "packaging.requirements", "tqdm.auto", "truststore",
)  # fmt: skip


def warm(work: Path) -> None:
    """Set this process's folders below `work`, and import what its children will need."""
    os.environ.update(HFENV_HOME=str(work / "home"), HFENV_CACHE=str(work / "cache"), HF_HOME=str(work / "hf"))
    os.environ.update(HF_HUB_DISABLE_TELEMETRY="1", HF_HUB_DISABLE_PROGRESS_BARS="1")
    for name in _WARM:
        import_module(name)


def start(work: Callable[[], None], said: Path) -> int:
    """Run `work` in a child and return its process id; what it says goes to a file. It ends with an exit code of hfenv.

    This process must have no threads, and connect to no hub itself.
    """
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        stream = said.open("w", encoding="utf-8")
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        code = _carried_out(work)
    finally:
        os._exit(code)


def _carried_out(work: Callable[[], None]) -> int:
    from hfenv.errors import HfenvError

    try:
        work()
    except HfenvError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr, flush=True)
        return int(error.exit_code)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        return 70
    return 0


def finish(child: int) -> int:
    """Wait for a child; its exit code, or minus the number of the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill_after(child: int, seconds: float) -> int:
    """SIGKILL a child when its time is over, unless it is done before; as `finish`."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(min(left, 0.002))
    os.kill(child, signal.SIGKILL)
    return finish(child)
