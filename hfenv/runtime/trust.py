"""Which remote code may be imported without being asked again: exact digests, in a file of the user's own."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from hfenv import paths
from hfenv.errors import UnreadableError

FORMAT = 1


@dataclass(frozen=True, order=True)
class TrustEntry:
    """Trust in one repository's code, reward and policies, by their digests; documentation and tasks may change.

    `tasks` is there where a generator makes them, which is code too.
    """

    endpoint: str
    repo: str
    code: str
    reward: str
    policies: str
    tasks: str = ""


@dataclass(frozen=True)
class Seen:
    """Where trusted code was looked at: its commit, and when, in seconds since 1970."""

    commit: str
    at: float


class TrustStore:
    """The trusted code of this user. Safe for several processes at once; the file is readable by its owner alone."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or paths.home() / "trust.json"

    def is_trusted(self, endpoint: str, repo: str, **digests: str) -> bool:
        """Whether exactly what is going to run was trusted, together, in one entry; `digests` by the entry's fields.

        UnreadableError for a damaged file, never a yes.
        """
        return bool(digests) and any(
            (entry.endpoint, entry.repo) == (endpoint, repo)
            and all(getattr(entry, part) == digest for part, digest in digests.items())
            for entry in self._read()
        )

    @property
    def entries(self) -> tuple[TrustEntry, ...]:
        """Everything that is trusted, sorted."""
        return tuple(sorted(self._read()))

    def last(self, endpoint: str, repo: str) -> tuple[TrustEntry, Seen | None] | None:
        """What was trusted last of a repository, and where it was seen; None where nothing is trusted.

        Stores of before remember no commits: of several entries without one, which was the last isn't known.
        """
        seen = self._seen()
        own = [entry for entry in self._read() if (entry.endpoint, entry.repo) == (endpoint, repo)]
        newest = max(sorted(own), key=lambda entry: seen[entry].at if entry in seen else 0.0, default=None)
        return None if newest is None else (newest, seen.get(newest))

    def add(self, entry: TrustEntry, seen: Seen | None = None) -> None:
        """Trust this from now on; `seen` says at which commit it was looked at."""
        with self._locked():
            known = self._seen()
            self._write(self._read() | {entry}, known | ({entry: seen} if seen is not None else {}))

    def remove(self, endpoint: str, repo: str) -> tuple[TrustEntry, ...]:
        """Trust nothing of this repository any more; returns what was trusted."""
        with self._locked():
            known = self._read()
            gone = {entry for entry in known if (entry.endpoint, entry.repo) == (endpoint, repo)}
            if gone:
                self._write(known - gone, self._seen())
        return tuple(sorted(gone))

    def _read(self) -> set[TrustEntry]:
        try:
            values = json.loads(self.path.read_text(encoding="utf-8"))
            if values["format"] != FORMAT:
                raise ValueError("format")
            entries = {TrustEntry(**entry) for entry in values["trusted"]}
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise UnreadableError(
                f"{self.path} can't be read ({error.strerror}), so nothing is taken as trusted.",
                "Check its rights, and that HFENV_HOME is a folder.",
            ) from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise UnreadableError(
                f"{self.path} is damaged, so nothing is taken as trusted.", "Remove the file and trust again."
            ) from None
        if not all(isinstance(value, str) for entry in entries for value in asdict(entry).values()):
            raise UnreadableError(f"{self.path} is damaged.", "Remove the file and trust again.")
        return entries

    def _seen(self) -> dict[TrustEntry, Seen]:
        """Where entries were looked at; what can't be read of it is left out, since no trust rests on it."""
        found: dict[TrustEntry, Seen] = {}
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError, RecursionError):
            for item in json.loads(self.path.read_text(encoding="utf-8")).get("seen", []):
                with contextlib.suppress(ValueError, TypeError, KeyError):
                    commit, at = str(item["commit"]), float(item["at"])
                    found[TrustEntry(**item["entry"])] = Seen(commit, at)
        return found

    def _write(self, entries: set[TrustEntry], seen: Mapping[TrustEntry, Seen]) -> None:
        """Replace the file as a whole: a reader sees the old or the new one.

        Commits stand beside the entries, so that an hfenv that knows none of them reads the file all the same.
        """
        kept = [{"entry": asdict(entry), **asdict(seen[entry])} for entry in sorted(entries) if entry in seen]
        values = {"format": FORMAT, "trusted": [asdict(entry) for entry in sorted(entries)], "seen": kept}
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=".trust-")  # mode 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(json.dumps(values, indent=1) + "\n")
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_suffix(".lock").open("a", encoding="utf-8") as stream:
            try:
                import fcntl
            except ImportError:  # Windows: replacing the file is atomic all the same
                yield
                return
            fcntl.flock(stream, fcntl.LOCK_EX)
            yield
