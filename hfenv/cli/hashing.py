"""A bar for reading large files: a folder with gigabytes is hashed before a command has anything else to show."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hfenv.cli.output import Output

_WORTH_A_BAR = 256 << 20  # bytes; less is read before anyone looks
_DELAY_S = 1.0


@contextmanager
def hashing_shown(root: Path, output: Output) -> Iterator[None]:
    """Context in which the hashing of a folder with large files shows its bytes and the time left, on a terminal."""
    total = _bytes_below(root) if output.shows_bars else 0
    if total < _WORTH_A_BAR:
        yield
        return
    from tqdm import tqdm

    from hfenv.components.hashing import watched

    guard = threading.Lock()  # files are hashed by several threads
    with tqdm(
        total=total, desc="Reading", unit="B", unit_scale=True, unit_divisor=1024, delay=_DELAY_S, leave=False
    ) as bar:

        def advance(step: int) -> None:
            with guard:
                bar.update(step)
                if bar.n >= total:  # all was read once; whatever comes next begins anew
                    bar.clear()
                    bar.reset()

        with watched(advance):
            yield


def _bytes_below(root: Path) -> int:
    """Bytes of the regular files in a folder, without those of version control."""
    total = 0
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if not name.startswith((".git", ".hfenv", ".venv"))]
        for name in files:
            try:
                state = (Path(folder) / name).lstat()
            except OSError:
                continue  # who reads it says so
            total += state.st_size if stat.S_ISREG(state.st_mode) else 0
    return total
