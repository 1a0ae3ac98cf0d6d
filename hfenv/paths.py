"""Where hfenv keeps things on this machine, and where its own templates and schemas are."""

from __future__ import annotations

import os
from pathlib import Path

from hfenv.errors import UsageError


def home() -> Path:
    """Folder of the user's own data (trust, the embedded hub): `HFENV_HOME`, else the XDG data folder."""
    if value := os.environ.get("HFENV_HOME"):
        return expanded(value)
    return expanded(os.environ.get("XDG_DATA_HOME") or "~/.local/share") / "hfenv"


def cache_root() -> Path:
    """Folder of what can be fetched again: `HFENV_CACHE`, else `HFENV_HOME/cache`, else the XDG cache folder."""
    if value := os.environ.get("HFENV_CACHE"):
        return expanded(value)
    if os.environ.get("HFENV_HOME"):
        return home() / "cache"
    return expanded(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "hfenv"


def config_root() -> Path:
    """Folder of what the user or the machine's keeper sets: `HFENV_HOME`, else the XDG configuration folder."""
    if os.environ.get("HFENV_HOME"):
        return home()
    return expanded(os.environ.get("XDG_CONFIG_HOME") or "~/.config") / "hfenv"


def local_hub_root() -> Path:
    """Storage folder of the embedded hub: `HFENV_LOCAL_HUB`, else `hub` under `home()`."""
    if value := os.environ.get("HFENV_LOCAL_HUB"):
        return expanded(value)
    return home() / "hub"


def expanded(path: str | Path) -> Path:
    """An absolute path with `~` and `~user` filled in; raises UsageError for a home that nobody has."""
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError:
        raise UsageError(f"There is no home folder for '{path}'.", "Write the whole path.") from None


def data_folder(name: str) -> Path:
    """`templates`, `schemas` or `examples`: inside an installed wheel, at the top of a checkout."""
    package = Path(__file__).resolve().parent
    for folder in (package / "_data" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise UsageError(f"This installation of hfenv has no folder '{name}'.", "Install it again from a complete wheel.")
