"""Imports folders of an environment as packages under names unique to their content, from source only."""

from __future__ import annotations

import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import CodeType, ModuleType
from typing import Any

from hfenv.errors import AuthorCodeError, IntegrityError
from hfenv.runtime.faults import describe
from hfenv.runtime.spec import Part, check_file

PREFIX = "_hfenv_"
_lock = threading.RLock()


@dataclass(frozen=True)
class Source:
    """What may be imported together: the Python files of some top folders, under one package name.

    `files` maps their paths to the SHA-256 that they had when this was made; no other file is ever imported.
    """

    package: str
    root: Path
    folders: tuple[str, ...]
    files: Mapping[str, str]

    def locate(self, name: str) -> tuple[Path, bool] | None:
        """File or folder of a module of this package, and whether it is a package; None when there is none."""
        parts = name.split(".")[1:]
        if not parts:
            return self.root, True
        if parts[0] not in self.folders:
            return None
        path = "/".join(parts)
        if f"{path}/__init__.py" in self.files:
            return self.root / path / "__init__.py", True
        if f"{path}.py" in self.files:
            return self.root / f"{path}.py", False
        inside = any(file.startswith(f"{path}/") for file in self.files)
        return (self.root / path, True) if inside else None

    def read(self, path: Path) -> bytes:
        """The bytes of one of the files; IntegrityError when they aren't what they were."""
        check_file(path, self.files.get(path.relative_to(self.root).as_posix()))
        return path.read_bytes()


class _SourceLoader(importlib.machinery.SourceFileLoader):
    """Compiles the source itself: never reads, writes or trusts a __pycache__ beside it."""

    def __init__(self, fullname: str, path: str, source: Source) -> None:
        super().__init__(fullname, path)
        self._source = source

    def get_data(self, path: str) -> bytes:
        """The file's bytes, checked; what isn't source of ours (data of an author's) is read as it is."""
        return self._source.read(Path(path)) if path == self.path else super().get_data(path)

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        """Nothing is ever written."""


class _FolderLoader(importlib.abc.Loader):
    """A folder without __init__.py: a package with nothing of its own."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to run."""


class _Finder(importlib.abc.MetaPathFinder):
    """Answers for every name under our prefix, so that no other finder (and no byte code) is ever asked for one."""

    def __init__(self) -> None:
        self.sources: dict[str, Source] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(PREFIX):
            return None
        source = self.sources.get(fullname.partition(".")[0])
        found = source.locate(fullname) if source else None
        if source is None or found is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        place, is_package = found
        if place.suffix != ".py":
            spec = importlib.machinery.ModuleSpec(fullname, _FolderLoader(), origin=str(place), is_package=True)
            spec.submodule_search_locations = [str(place)]
            return spec
        return importlib.util.spec_from_file_location(
            fullname,
            place,
            loader=_SourceLoader(fullname, str(place), source),
            submodule_search_locations=[str(place.parent)] if is_package else None,
        )


_finder = _Finder()


def source_of(kind: str, part: Part, folders: tuple[str, ...]) -> Source:
    """What a part brings in some of its folders; the name is a digest of root, component and every Python file."""
    known = part.files if part.files is not None else _on_disk(part.root, folders)
    files = {path: known[path] for path in sorted(known) if path.endswith(".py") and path.split("/")[0] in folders}
    digest = hashlib.sha256(repr((str(part.root), part.exact, files)).encode())
    return Source(f"{PREFIX}{kind}_{digest.hexdigest()[:20]}", part.root, folders, files)


def _on_disk(root: Path, folders: tuple[str, ...]) -> dict[str, str]:
    paths = (path for folder in folders for path in (root / folder).rglob("*.py"))
    return {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def import_entry(source: Source, entry: str, pointer: str) -> Any:
    """The object that `path/to/file.py:name` names. `pointer` is the card's key, for errors.

    Raises AuthorCodeError when the file or the name is missing, or when the author's code fails at import; then
    nothing of it stays in `sys.modules`.
    """
    path, _, name = entry.partition(":")
    pure = PurePosixPath(path)
    if pure.suffix != ".py" or not name.isidentifier() or pure.is_absolute() or ".." in pure.parts:
        raise AuthorCodeError(f"{pointer} is '{entry}'.", "Write it as 'env/environment.py:ClassName'.")
    if not pure.parts or pure.parts[0] not in source.folders:
        wanted = " or ".join(f"{folder}/" for folder in source.folders)
        raise AuthorCodeError(f"{pointer} names {path}, which isn't in {wanted}.", f"Move the file into {wanted}.")
    if path not in source.files:
        ignored = " (one that is ignored counts as none)" if (source.root / path).is_file() else ""
        raise AuthorCodeError(
            f"{pointer} names {path}, and there is no such file{ignored}.", "Correct the card or add it."
        )
    module = _import(source, ".".join((source.package, *pure.with_suffix("").parts)), path)
    try:
        return getattr(module, name)
    except AttributeError:
        raise AuthorCodeError(f"{path} defines no '{name}', which {pointer} names.", "Correct one of them.") from None


def module_of(value: Any) -> ModuleType | None:
    """The module an author's class or function was defined in."""
    return sys.modules.get(getattr(value, "__module__", ""))


def _import(source: Source, name: str, path: str) -> ModuleType:
    with _lock:
        if _finder not in sys.meta_path:
            sys.meta_path.insert(0, _finder)
        _finder.sources[source.package] = source
        before = set(sys.modules)
        try:
            return importlib.import_module(name)
        except (Exception, SystemExit) as error:
            # What was imported before the failure would otherwise look as if it had been imported whole.
            for leaked in [key for key in sys.modules if key.startswith(source.package) and key not in before]:
                del sys.modules[leaked]
            if isinstance(error, IntegrityError):
                raise
            raise AuthorCodeError(*_failed_import(error, source, path)) from error


def _failed_import(error: BaseException, source: Source, path: str) -> tuple[str, str]:
    message = f"{path} can't be imported: {describe(error, source.root)}."
    if isinstance(error, ModuleNotFoundError) and error.name:
        top = error.name.partition(".")[0]
        siblings = [folder for folder in source.folders if f"{folder}/{top}.py" in source.files]
        if siblings:
            return message, f"Import siblings relatively: from . import {top}."
        if not top.startswith(PREFIX):
            return message, "Install the package, and list it under environment.requires.packages on the card."
    return message, "Correct the code."
