"""Private working folders: made for one environment, always removed, even when nobody closes it."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path


class WorkFolder:
    """A new private folder, removed by `remove`, by garbage collection or when Python ends, whichever comes first."""

    def __init__(self, parent: Path | None = None, prefix: str = "hfenv-") -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        self._finalizer = weakref.finalize(self, remove_tree, self.path)

    def remove(self) -> None:
        self._finalizer()


def remove_tree(path: Path) -> None:
    """Remove a folder with all that is in it, read-only folders too; never raises."""
    for _ in range(3):  # a process that is just dying may still add a file
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        for folder, _names, _files in os.walk(path):
            try:
                Path(folder).chmod(0o700)
            except OSError:
                continue
