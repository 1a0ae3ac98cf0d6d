"""A small file of settings that several processes read and write: as a whole, under a lock, by rename."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hfenv.errors import UnreadableError
from hfenv.localhub.locks import locked


class JsonFile:
    """A JSON object in a file of the storage folder, with an entry `format`; missing means empty."""

    def __init__(self, root: Path, name: str) -> None:
        self.path = root / name
        self._lock = root / "locks" / f"{self.path.stem}.lock"

    def read(self) -> dict[str, Any]:
        """The object.

        Raises:
            UnreadableError: the file isn't what was written.
        """
        try:
            data = json.loads(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise self.unreadable() from error
        if not isinstance(data, dict):
            raise self.unreadable()
        return data

    def unreadable(self) -> UnreadableError:
        return UnreadableError(
            f"{self.path} isn't what the hub wrote there.", "Mend or delete the file, and set it up again."
        )

    @contextmanager
    def changed(self) -> Iterator[dict[str, Any]]:
        """The object, to be changed in place; written at the end, while nobody else writes it."""
        with locked(self._lock):
            data = self.read()
            yield data
            self._write({**data, "format": 1})

    def _write(self, data: dict[str, Any]) -> None:
        handle, name = tempfile.mkstemp(prefix=f"{self.path.stem}-", dir=self.path.parent)  # mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                json.dump(data, file, indent=2)
            Path(name).replace(self.path)
        finally:
            Path(name).unlink(missing_ok=True)
