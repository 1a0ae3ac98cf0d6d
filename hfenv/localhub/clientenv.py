"""What other tools need in their process environment to talk to the embedded hub."""

from __future__ import annotations

from pathlib import Path


def variables(endpoint: str, home: Path, token: str | None = None) -> dict[str, str]:
    """Environment variables for `hf`, `datasets` and other users of the Hub client.

    Args:
        endpoint: The served hub's URL.
        home: A folder for the client's cache and token, apart from those of other hubs: the client's cache doesn't
            tell hubs apart, and a token of the public Hub is refused here.
        token: A token of this hub.
    """
    found = {
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(home),
        # The client sends large files to Xet where it can, and doesn't fall back.
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    }
    return found | ({"HF_TOKEN": token} if token else {})
