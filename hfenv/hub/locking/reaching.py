"""The connection to the hub of a lock file's entry, and to whom of them a token may go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hfenv.errors import AccessError, NotFoundError
from hfenv.hub.client import Hub, connect, hub_key, hub_name
from hfenv.hub.locking.lockfile import Entry


@dataclass(frozen=True, slots=True)
class Reach:
    """How the hubs of entries are reached: `hub` is the one that the user named (None for the default)."""

    hub: str | None = None
    offline: bool = False

    @contextmanager
    def to(self, entry: Entry) -> Iterator[Hub]:
        """Open an entry's hub.

        Lock files come with repositories of other people: a hub that only the file names, and not the user, gets no
        token. Where it refuses for want of one, the error says how to name it.
        """
        name = entry.hub_argument
        known = name in ("hf", "local") or entry.key == hub_key(hub_name(self.hub))
        try:
            with connect(name, offline=self.offline, anonymous=not known) as opened:
                yield opened
        except (AccessError, NotFoundError) as error:
            if known:
                raise
            raise type(error)(
                error.message,
                f"No token was sent, since only the lock file names this hub; name it yourself: --hub {entry.hub}",
            ) from None
