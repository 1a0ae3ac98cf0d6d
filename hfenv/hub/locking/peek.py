"""One small file of a commit in one request, without the commit's tree: to compare it, never to use it."""

from __future__ import annotations

import io
from urllib.parse import quote

from hfenv.card.regular import LARGEST_TEXT
from hfenv.errors import IntegrityError
from hfenv.hub.client import REPO_TYPE, Hub


class _Bounded(io.BytesIO):
    """Takes so many bytes and no more, whatever a server sends."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__()
        self.what, self.limit = what, limit

    def write(self, data: object, /) -> int:
        count = super().write(data)  # type: ignore[arg-type]
        if self.tell() > self.limit:
            raise IntegrityError(f"{self.what} has more than {self.limit:,} bytes.", "Tell its author.")
        return count


def peek(hub: Hub, repo: str, commit: str, path: str, *, limit: int = LARGEST_TEXT) -> bytes:
    """The bytes of a file as the hub serves them. Raises NotFoundError where commit or file are gone."""
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils._headers import build_hf_headers

    from hfenv.hub.fetch import silent_bar

    stream = _Bounded(f"{path} of {repo}@{commit}", limit)
    url = f"{hub.endpoint}/{REPO_TYPE}s/{repo}/resolve/{commit}/{quote(path)}"
    with hub.translated(f"{repo}@{commit}"):
        headers = build_hf_headers(token=hub.api.token, library_name="hfenv")
        http_get(url, stream, headers=headers, tqdm_class=silent_bar())
    return stream.getvalue()
