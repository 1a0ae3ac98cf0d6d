"""Download one file: hashed as it comes, gone on with where it stopped, and checked before it gets its name."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

from hfenv.errors import IntegrityError
from hfenv.hub.cache import ContentId, RemoteFile, RepositoryCache
from hfenv.hub.cachelocks import alone
from hfenv.hub.client import REPO_TYPE, Hub
from hfenv.hub.patience import Patience
from hfenv.hub.wire import ENOUGH, Pace, check_status, headers_for, timeout

if TYPE_CHECKING:
    import httpx2

_BLOCK = 1 << 20
_RESTARTS = 2  # from the first byte on, after pieces that didn't fit together
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class Stopped(Exception):
    """Another download of the same fetch failed, or the user stopped it."""


class _Digests:
    """Both digests of what came so far."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.reset()

    def reset(self) -> None:
        self.count = 0
        self._blob = hashlib.sha1(b"blob %d\0" % self._size, usedforsecurity=False)
        self._sha256 = hashlib.sha256()

    def add(self, chunk: bytes) -> None:
        self.count += len(chunk)
        self._blob.update(chunk)
        self._sha256.update(chunk)

    def content(self) -> ContentId:
        return ContentId(self._blob.hexdigest(), self._sha256.hexdigest())


@dataclass(slots=True)
class Downloads:
    """What the downloads of one fetch share. `advance` hears of bytes as they come, and of those that are given up."""

    hub: Hub
    cache: RepositoryCache
    commit: str
    advance: Callable[[int], None]
    headers: Mapping[str, str] = field(init=False)
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        # Bytes as they are: ranges and digests are about these.
        self.headers = {**headers_for(self.hub), "Accept-Encoding": "identity"}

    def pause(self, seconds: float) -> None:
        """Wait, unless the fetch is stopped."""
        if self.stop.wait(seconds):
            raise Stopped

    def run(self, file: RemoteFile) -> ContentId | None:
        """Download a file's content; None where another process did so meanwhile."""
        with alone(self.cache.lock(file.blob), self.pause) as locked:
            blob = self.cache.blob(file.blob)
            if blob.is_file():
                self.advance(file.size)
                return None
            self.cache.refuse_misplaced(blob)
            # Without locks another process may write the same file: then it is one that nobody goes on with.
            partial = self.cache.partial(file.blob) if locked else self.cache.stage()
            partial.parent.mkdir(parents=True, exist_ok=True)
            try:
                with partial.open("a+b") as stream:
                    content = _Reception(self, file, stream).run()
                partial.replace(blob)
            except BaseException as error:
                with suppress(OSError):
                    if not locked or not _is_interruption(error) or partial.stat().st_size == 0:
                        partial.unlink()
                raise
            return content


def _is_interruption(error: BaseException) -> bool:
    """Whether what came so far is worth keeping: not after a full disk, nor after wrong bytes."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError

    return isinstance(error, (Stopped, KeyboardInterrupt, httpx2.TransportError, HfHubHTTPError))


class _Reception:
    """One file as it comes in, over as many requests as that takes."""

    def __init__(self, downloads: Downloads, file: RemoteFile, stream: BinaryIO) -> None:
        self._all = downloads
        self._file = file
        self._stream = stream
        self._digests = _Digests(file.size)
        self._in_pieces = False

    def run(self) -> ContentId:
        self._take_up()
        for _ in range(_RESTARTS + 1):
            self._receive()
            content = self._digests.content()
            if content.is_content_of(self._file):
                return content
            if not self._in_pieces:
                break
            self._restart()  # the pieces aren't of one file; perhaps the whole is
        raise self._wrong()

    def _wrong(self) -> IntegrityError:
        return IntegrityError(
            f"{self._file.path} of {self._all.cache.repo}@{self._all.commit} arrived with other bytes than its commit "
            "promises.",
            "Nothing was kept; try again, and if it happens again don't trust this hub.",
        )

    def _take_up(self) -> None:
        """Go on with what an earlier download left."""
        self._stream.seek(0)
        while chunk := self._stream.read(_BLOCK):
            self._digests.add(chunk)
        if self._digests.count > self._file.size:
            self._stream.truncate(0)
            self._digests.reset()
        self._all.advance(self._digests.count)

    def _restart(self) -> None:
        self._all.advance(-self._digests.count)
        self._stream.truncate(0)
        self._digests.reset()
        self._in_pieces = False

    def _receive(self) -> None:
        import httpx2
        from huggingface_hub.errors import HfHubHTTPError

        patience, before = Patience(self._all.pause), self._digests.count
        while self._digests.count < self._file.size:
            try:
                self._request()
                if self._digests.count < self._file.size:
                    raise httpx2.RemoteProtocolError(f"{self._file.path} ended early")
            except (httpx2.TransportError, HfHubHTTPError) as error:
                self._stream.flush()
                if self._digests.count >= before + ENOUGH:
                    patience.went_on()
                before = self._digests.count
                patience.failed(error)

    def _request(self) -> None:
        from huggingface_hub import get_session

        all_, start = self._all, self._digests.count
        url = f"{all_.hub.endpoint}/{REPO_TYPE}s/{all_.cache.repo}/resolve/{all_.commit}/{quote(self._file.path)}"
        headers = {**all_.headers, "Range": f"bytes={start}-"} if start else all_.headers
        with get_session().stream("GET", url, headers=headers, timeout=timeout()) as response:
            self._fit(response, start)
            pace = Pace()
            for chunk in response.iter_bytes():
                if all_.stop.is_set():
                    raise Stopped
                if self._digests.count + len(chunk) > self._file.size:
                    if self._in_pieces:
                        self._restart()
                        return
                    raise self._wrong()
                self._stream.write(chunk)
                self._digests.add(chunk)
                all_.advance(len(chunk))
                pace.came(len(chunk))

    def _fit(self, response: httpx2.Response, start: int) -> None:
        """See to it that the answer's body goes on where the file ends."""
        import httpx2

        if start and response.status_code == 416:
            self._restart()
            raise httpx2.RemoteProtocolError("The hub has no such range")
        check_status(response)
        if not start:
            return
        found = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
        if response.status_code != 206:
            self._restart()  # it sends the whole file
        elif found and int(found[1]) == start and found[2] in ("*", str(self._file.size)):
            self._in_pieces = True
        else:
            self._restart()
            raise httpx2.RemoteProtocolError("The hub sent another range than was asked for")
