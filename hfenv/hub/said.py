"""What people write for others to read, such as a commit's message or a review: it holds no secret either."""

from __future__ import annotations

from hfenv.errors import FindingsError
from hfenv.secret_shapes import find_secrets


def refuse_secret(text: str, what: str) -> None:
    """Raises FindingsError for a text that holds what looks like a secret, without showing it."""
    for kind, _, _ in find_secrets(text.encode("utf-8", "surrogatepass")):
        raise FindingsError(
            f"{what} holds what looks like {kind}; nothing was sent.", "Take it out; one that is real is to be revoked."
        )
