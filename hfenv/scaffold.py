"""Write a new environment from a template: rendered in a folder beside the target, then moved into place as a whole."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from hfenv.errors import UsageError
from hfenv.paths import data_folder, expanded

DEFAULT_TEMPLATE = "sql"
ABOUT = "template.json"  # says in a line what the template makes; stays behind
RENDERED = ".jinja"  # files with this ending, and names with braces, have name and action filled in
REPOSITORY = "hfenv/hfenv"  # where hfenv's own releases, and with them its GitHub action, are
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_LITTER = {"__pycache__", ".pytest_cache", ".DS_Store"}
_OWN_FOLDERS = {".git"}  # may be in a folder that counts as empty


@dataclass(frozen=True, slots=True)
class TemplateInfo:
    """One template: its name, what it makes, and its folder."""

    name: str
    summary: str
    path: Path


@dataclass(frozen=True, slots=True)
class Scaffolded:
    """What was written: the environment's name and folder, its files, and those of them that were there before."""

    name: str
    path: Path
    template: str
    files: tuple[str, ...]
    replaced: tuple[str, ...]


def templates() -> tuple[TemplateInfo, ...]:
    """The templates of this installation, by name."""
    found = []
    for about in sorted(data_folder("templates").glob(f"*/{ABOUT}")):
        summary = json.loads(about.read_text(encoding="utf-8"))["summary"]
        found.append(TemplateInfo(about.parent.name, summary, about.parent))
    return tuple(found)


def find_template(name: str) -> TemplateInfo:
    """The template of this name; raises UsageError with the list, and a guess where one is near."""
    known = {template.name: template for template in templates()}
    if name not in known:
        near = get_close_matches(name, known, n=1)
        guess = f" Did you mean '{near[0]}'?" if near else ""
        raise UsageError(f"There is no template '{name}'.{guess}", f"Templates: {', '.join(known)}.")
    return known[name]


def check_name(name: str) -> str:
    """A name that the Hub accepts for a repository; raises UsageError otherwise."""
    if not _NAME.fullmatch(name) or name.endswith((".", "-", ".git")) or ".." in name or "--" in name:
        raise UsageError(
            f"'{name}' can't be the name of an environment.",
            "Use at most 96 letters, digits, '-', '_' and '.'; begin and end with a letter or digit; no '--' and '..'.",
        )
    return name


def action() -> str:
    """GitHub's name for the action of this hfenv's release; of the main branch, where this is between two releases."""
    from importlib.metadata import version

    from packaging.version import Version

    installed = Version(version("hfenv"))
    between = installed.is_devrelease or installed.local is not None
    return f"{REPOSITORY}@{'main' if between else f'v{installed}'}"


def scaffold(target: Path, template: str = DEFAULT_TEMPLATE, *, force: bool = False) -> Scaffolded:
    """Make an environment in the folder `target`, which is named after it.

    The folder may be there if it is empty; with `force` also if not: then files of the template replace those of the
    same name and all others stay. Runs no code of the template. Raises UsageError, and leaves nothing half-done.
    """
    chosen = find_template(template)
    target = expanded(target)
    name = check_name(target.resolve().name)
    _check_target(target, force)
    try:
        with _stage(target) as stage:
            files = _render(chosen, stage / "new", {"name": name, "action": action()})
            replaced = tuple(file for file in files if (target / file).is_file())
            if target.is_dir():
                _merge(stage / "new", target, files, stage / "old")
            else:
                (stage / "new").replace(target)
    except _template_errors() as error:
        raise UsageError(
            f"The template '{chosen.name}' is broken: {error}.", "Install hfenv again, or correct the template."
        ) from None
    except OSError as error:
        raise UsageError(
            f"The environment can't be written to {target}: {error.strerror or error}.", "Nothing was changed."
        ) from None
    return Scaffolded(name, target, chosen.name, files, replaced)


def _template_errors() -> type[Exception]:
    import jinja2

    return jinja2.TemplateError


def _check_target(target: Path, force: bool) -> None:
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target} is a file.", "Choose another name.")
    if target.is_dir() and not force and any(entry.name not in _OWN_FOLDERS for entry in target.iterdir()):
        raise UsageError(
            f"The folder {target} isn't empty.",
            "Choose another name, or --force: files of the template then replace those of the same name.",
        )


@contextmanager
def _stage(target: Path) -> Iterator[Path]:
    """A private folder on the target's file system, so that moving is renaming; folders made for it go on failure."""
    made = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    stage = None
    try:
        stage = Path(tempfile.mkdtemp(prefix=".hfenv-init-", dir=target.parent))
        yield stage
    except BaseException:
        if stage is not None:
            shutil.rmtree(stage, ignore_errors=True)
        for folder in made:
            folder.rmdir()
        raise
    shutil.rmtree(stage, ignore_errors=True)


def _render(template: TemplateInfo, folder: Path, values: dict[str, str]) -> tuple[str, ...]:
    """Write the template's files to `folder` and return their POSIX paths; only LF ends a line."""
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    sandbox = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    folder.mkdir()
    files = []
    for source in sorted(template.path.rglob("*")):
        relative = source.relative_to(template.path)
        if source.is_dir() or relative.as_posix() == ABOUT or _LITTER & {*relative.parts} or source.suffix == ".pyc":
            continue
        path = sandbox.from_string(relative.as_posix()).render(values)
        content = source.read_bytes()
        if path.endswith(RENDERED):
            path = path.removesuffix(RENDERED)
            content = sandbox.from_string(content.decode("utf-8")).render(values).encode("utf-8")
        goal = folder / path
        goal.parent.mkdir(parents=True, exist_ok=True)
        goal.write_bytes(content if b"\0" in content else content.replace(b"\r\n", b"\n"))
        files.append(path)
    return tuple(sorted(files))


def _merge(new: Path, target: Path, files: tuple[str, ...], old: Path) -> None:
    """Move files into a folder that exists; on a failure, put back what was there."""
    moved: list[str] = []
    made: list[Path] = []
    try:
        for file in files:
            goal, kept = target / file, old / file
            made += [folder for folder in goal.parents if not folder.exists()]
            goal.parent.mkdir(parents=True, exist_ok=True)
            if goal.is_file():
                kept.parent.mkdir(parents=True, exist_ok=True)
                goal.replace(kept)
            moved.append(file)
            (new / file).replace(goal)
    except BaseException:
        for file in moved:
            if (old / file).is_file():
                (old / file).replace(target / file)
            else:
                (target / file).unlink(missing_ok=True)
        for folder in sorted(made, key=lambda folder: len(folder.parts), reverse=True):
            folder.rmdir()
        raise
