"""What is remembered of one folder, in the user's cache: a folder that is only looked at stays as it is."""

from __future__ import annotations

import contextlib
import os
import time
from hashlib import sha256
from pathlib import Path
from tempfile import mkstemp

from hfenv.components.files import STAGED_PREFIX, STAGED_SUFFIX, sweep
from hfenv.paths import cache_root

_UNUSED_S = 30 * 86_400.0


def remembered_file(kind: str, root: Path) -> Path:
    """Where things of a kind are remembered of a folder; the file needn't be there."""
    name = sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:32]
    return cache_root() / kind / f"{name}.json"


def remember(file: Path, content: bytes) -> None:
    """Write such a file, and remove those of folders that nobody asked about for a month.

    Whole or not at all, since others may read or write it; a write that is lost costs only time.
    """
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = mkstemp(dir=file.parent, prefix=STAGED_PREFIX, suffix=STAGED_SUFFIX)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            Path(name).replace(file)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
        sweep(file.parent)
        oldest = time.time() - _UNUSED_S
        for path in file.parent.glob("*.json"):
            if path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)
