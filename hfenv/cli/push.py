"""`hfenv push`: publish a release to the hub."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hfenv.cli.common import environment_folder, read_manifest, tell_loosened
from hfenv.cli.hashing import hashing_shown
from hfenv.cli.options import FormatOption, HubOption, TrustOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.cli.report.pushes import each_data, each_text, push_data, push_text
from hfenv.cli.signals import terminated_cleanly
from hfenv.components.ownership import CARD_NAME
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import Settle, Statuses
from hfenv.components.validation import require_valid
from hfenv.errors import HfenvError, UsageError
from hfenv.hub.client import Hub, connect, hub_key, hub_name
from hfenv.hub.push import PushOptions, PushResult
from hfenv.hub.push import push as push_folder
from hfenv.hub.pusheach import matching_folders, push_each
from hfenv.hub.pushed import pushed_revision
from hfenv.hub.pushing.model import MAIN
from hfenv.hub.state import read_state

app = new_app()


@app.command()
def push(
    repo_id: Annotated[
        str | None, typer.Argument(help="namespace/name; without it, `repo` on the card.", metavar="[REPO_ID]")
    ] = None,
    path: Annotated[Path, typer.Argument(help="The environment's folder.")] = Path(),
    message: Annotated[str | None, typer.Option("-m", "--message", help="The commit's message.")] = None,
    private: Annotated[bool, typer.Option("--private", help="Create the repository as a private one.")] = False,
    bump: Annotated[
        str | None, typer.Option("--bump", metavar="auto", help="Raise what changed first, as `hfenv bump`.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be sent; send nothing.")] = False,
    adopt: Annotated[bool, typer.Option("--adopt", help="Replace content of its own in the repository.")] = False,
    base: Annotated[str | None, typer.Option("--base", metavar="HASH", help="The commit this push builds on.")] = None,
    branch: Annotated[
        str, typer.Option("--branch", metavar="NAME", help="For a fix to an older line; made if it isn't there.")
    ] = "main",
    create_pr: Annotated[bool, typer.Option("--create-pr", help="Open a pull request instead of committing.")] = False,
    every: Annotated[
        list[str] | None, typer.Option("--all", metavar="PATTERN", help="Push each environment that a pattern names.")
    ] = None,
    changed: Annotated[bool, typer.Option("--changed", help="With --all: skip what was pushed as it is.")] = False,
    trust_remote_code: TrustOption = False,
    hub: HubOption = "hf",
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Publish a release: one commit, its tags, compared with what was sent.

    Components that changed need a higher version first (`hfenv status`, `hfenv bump`, or --bump auto). A push of
    documentation alone moves no version; a push with nothing new makes no commit. A push that was stopped goes on from
    there when it is run again. With --all, each of several is pushed in turn, and the exit code is the worst of theirs.
    """
    options = PushOptions(
        private or None, message, adopt, base, dry_run, _settle(trust_remote_code=trust_remote_code), branch, create_pr
    )
    pushing = _Pushing(options, hub, Output(fmt), bump, trust_remote_code)
    if every or changed:
        _refuse_single(every, repo_id, path, base)
        pushing.every(every or [], changed=changed)
    else:
        pushing.one(*_where(repo_id, path, hub))


@dataclass(frozen=True, slots=True)
class _Pushing:
    """What this call pushes with."""

    options: PushOptions
    hub: str
    output: Output
    bump: str | None
    trust_remote_code: bool

    def connected(self) -> AbstractContextManager[Hub]:
        """The hub, with bars for large uploads where people look."""
        return connect(self.hub, bars=self.output.shows_bars)

    def prepare(self, root: Path) -> None:
        """Raise versions where that is asked for, and validate."""
        if self.bump is not None:
            _check_bump(self.bump, dry_run=self.options.dry_run)
            _raise_changed(root, self.options.message, self.output, trust_remote_code=self.trust_remote_code)
        with hashing_shown(root, self.output):
            require_valid(root)
        tell_loosened(read_manifest(root), self.output)

    def one(self, repo: str, root: Path) -> None:
        """Push one environment."""
        self.prepare(root)
        with terminated_cleanly(), hashing_shown(root, self.output), self.connected() as opened:
            result = push_folder(opened, root, repo, self.options)
        data = push_data(result, dry_run=self.options.dry_run)
        self.output.result("push", data, lambda: push_text(result, self.hub), quiet=result.revision or "")

    def every(self, patterns: list[str], *, changed: bool) -> None:
        """Push each environment that a pattern names."""
        folders = matching_folders(patterns)
        with terminated_cleanly(), self.connected() as opened:

            def push_one(root: Path, repo: str) -> PushResult:
                self.prepare(root)
                self.output.note(f"{root} -> {repo}")
                with hashing_shown(root, self.output):
                    return push_folder(opened, root, repo, self.options)

            def known(root: Path, repo: str) -> str | None:
                return pushed_revision(root, opened.key, repo)

            told = changed and self.options.branch == MAIN
            results = push_each(
                folders, lambda root: _repo_of(root, self.hub), push_one, known if told else None, self._failed,
                dry_run=self.options.dry_run,
            )  # fmt: skip
        data = each_data(results, dry_run=self.options.dry_run)
        revisions = "\n".join(each.revision for each in results if each.revision)
        self.output.result("push", data, lambda: each_text(results), quiet=revisions)
        if worst := max(each.exit_code for each in results):
            raise typer.Exit(worst)

    def _failed(self, folder: Path, error: HfenvError) -> None:
        self.output.warn(f"{folder} isn't pushed.")
        self.output.error(error)


def _where(repo_id: str | None, path: Path, hub: str) -> tuple[str, Path]:
    """The repository and the folder; `hfenv push FOLDER` names the folder alone, which no repository is called like."""
    is_path = repo_id is not None and ("/" not in repo_id or repo_id.startswith((".", "/", "~")))
    folder = Path(repo_id).expanduser() if repo_id and is_path else None
    if folder and path == Path() and (folder / CARD_NAME).is_file():
        repo_id, path = None, folder
    root = environment_folder(path)
    return repo_id or _repo_of(root, hub), root


def _refuse_single(every: list[str] | None, repo_id: str | None, path: Path, base: str | None) -> None:
    """Raises UsageError for what makes sense for one environment only, or only for several."""
    if not every:
        raise UsageError(
            "--changed belongs to --all.", "One environment: hfenv push; it makes no commit for nothing new."
        )
    if repo_id is not None or path != Path():
        raise UsageError("With --all, each card says where it goes.", "Quote the pattern: hfenv push --all 'envs/*'")
    if base is not None:
        raise UsageError("--base is about one repository.", "Push that environment alone.")


def _repo_of(root: Path, hub: str) -> str:
    if (named := read_manifest(root).repo) is not None:
        return named
    known = read_state(root)
    # Where it was pulled from or last pushed to, on this hub: a second push needs no name.
    return known.repo if known is not None and known.endpoint == hub_key(hub_name(hub)) else _own_name(root, hub)


def _settle(*, trust_remote_code: bool) -> Settle:
    def settle(folder: Snapshot, states: Statuses) -> Statuses:
        from hfenv.settling import settle_release

        return settle_release(folder, states, trust_remote_code=trust_remote_code)

    return settle


def _check_bump(bump: str, *, dry_run: bool) -> None:
    if bump != "auto":
        raise UsageError(f"--bump takes 'auto', not '{bump}'.", "For one component: hfenv bump COMPONENT LEVEL")
    if dry_run:
        raise UsageError("--bump writes, and --dry-run doesn't.", "See what it would do: hfenv status")


def _raise_changed(root: Path, message: str | None, output: Output, *, trust_remote_code: bool) -> None:
    """Raise every component that changed and doesn't declare enough yet."""
    from datetime import date

    from hfenv.cli.bump import settled, told
    from hfenv.components.bump import bump

    folder = Snapshot.of(root, remembers=True)
    judged = settled(folder, None, output, trust_remote_code=trust_remote_code)
    unclear = next((state.unclear for state in judged.states.values() if state.unclear is not None), None)
    if unclear is not None:
        raise unclear  # before anything is written
    today = date.today().isoformat()
    for component, state in judged.states.items():
        if state.released is not None and state.changed and not (state.satisfied and state.moved):
            done = bump(
                folder, judged.states, component, step="auto", message=message or "", today=today,
                probes=judged.refreshed(),
            )  # fmt: skip
            folder = Snapshot.of(root, remembers=True)
            for raised in done:
                for line in told(raised).splitlines():
                    output.note(line)


def _own_name(root: Path, hub: str) -> str:
    """On the embedded hub any namespace may be written; elsewhere it takes a choice."""
    if hub != "local":
        known = read_state(root)
        named = f"{known.repo} {shlex.quote(str(root))}, where it was last" if known else "NAMESPACE/NAME"
        raise UsageError(
            "Where to push to isn't known.",
            f"Name it, or write `repo` under `environment` on the card: hfenv push {named}",
        )
    return f"local/{read_manifest(root).name or root.resolve().name}"
