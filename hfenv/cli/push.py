"""`hfenv push`: publish a release to the hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hfenv.cli.common import environment_folder, read_manifest, tell_loosened
from hfenv.cli.hashing import hashing_shown
from hfenv.cli.options import FormatOption, HubOption, TrustOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.cli.signals import terminated_cleanly
from hfenv.components.ownership import CARD_NAME
from hfenv.components.snapshot import Snapshot
from hfenv.components.status import Settle, Statuses
from hfenv.components.validation import require_valid
from hfenv.errors import UsageError
from hfenv.hub.client import connect
from hfenv.hub.push import PushOptions, PushResult
from hfenv.hub.push import push as push_folder

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
    trust_remote_code: TrustOption = False,
    hub: HubOption = "hf",
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Publish a release: one commit, its tags, compared with what was sent.

    Components that changed need a higher version first (`hfenv status`, `hfenv bump`, or --bump auto). A push of
    documentation alone moves no version; a push with nothing new makes no commit. A push that was stopped goes on from
    there when it is run again.
    """
    output = Output(fmt)
    folder = Path(repo_id) if repo_id and "/" not in repo_id else None
    if folder and path == Path() and (folder / CARD_NAME).is_file():
        repo_id, path = None, folder  # hfenv push FOLDER: a repository's name has a slash
    root = environment_folder(path)
    repo = repo_id or read_manifest(root).repo or _own_name(root, hub)
    if bump is not None:
        _check_bump(bump, dry_run=dry_run)
        _raise_changed(root, message, output, trust_remote_code=trust_remote_code)
    with hashing_shown(root, output):
        require_valid(root)
    tell_loosened(read_manifest(root), output)
    settle = _settle(trust_remote_code=trust_remote_code)
    options = PushOptions(private or None, message, adopt, base, dry_run, settle, branch, create_pr)
    with terminated_cleanly(), hashing_shown(root, output), connect(hub) as opened:
        result = push_folder(opened, root, repo, options)
    data = _as_data(result, dry_run=dry_run)
    output.result("push", data, lambda: _render(result, hub, dry_run=dry_run), quiet=result.revision or "")


def _as_data(result: PushResult, *, dry_run: bool) -> dict[str, Any]:
    return {
        "repo": result.repo,
        "revision": result.revision,
        "release": result.release,
        "versions": {component.value: version for component, version in result.versions.items()},
        "tags": list(result.tags),
        "created": result.created,
        "private": result.private,
        "url": result.url,
        "uploaded": [{"path": p, "bytes": size} for p, size in sorted(result.uploaded.items())],
        "deleted": list(result.deleted),
        "branch": result.branch,
        "pull_request": result.pull_request,
        "dry_run": dry_run,
    }


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
        raise UsageError(
            "Where to push to isn't known.",
            "Write hfenv push NAMESPACE/NAME, or `repo` under `environment` on the card.",
        )
    return f"local/{read_manifest(root).name or root.resolve().name}"


def _render(result: PushResult, hub: str, *, dry_run: bool) -> str:
    total = sum(result.uploaded.values())
    visibility = "private" if result.private else "public"
    versions = ", ".join(f"{component.value} {version}" for component, version in result.versions.items())
    lines = []
    if dry_run:
        lines += [f"  send    {path} ({size:,} bytes)" for path, size in sorted(result.uploaded.items())]
        lines += [f"  delete  {path}" for path in result.deleted]
        lines.append(f"Would send {len(result.uploaded)} files ({total:,} bytes) to {result.repo} ({visibility}).")
        lines.append(f"Release {result.release}: {versions}; tags {', '.join(result.tags) or 'none'}.")
        return "\n".join(lines)
    if result.pull_request is not None:
        found = "Opened" if result.created else "There is already"
        lines.append(f"{found} a pull request with {len(result.uploaded)} files ({total:,} bytes) for {result.repo}.")
        lines.append(f"It would be release {result.release}: {versions}")
        lines.append(f"Revision {result.revision}")
        lines.append(result.pull_request)
        lines.append("Nothing is released before it is merged; hfenv push then makes the tags.")
        return "\n".join(lines)
    if result.created:
        lines.append(f"Pushed {len(result.uploaded)} files ({total:,} bytes) to {result.repo} ({visibility}).")
        lines += [f"  deleted {path}" for path in result.deleted]
    else:
        lines.append(f"{result.repo} ({visibility}) has it all already; no commit was made.")
    lines.append(f"Release {result.release}: {versions}" + (f" (new: {', '.join(result.tags)})" if result.tags else ""))
    lines.append(f"Revision {result.revision}")
    lines.append(result.url)
    where = f', hub="{hub}"' if hub != "hf" else ""
    lines.append(f'\n  env = hfenv.load("{result.repo}", revision="{result.revision}"{where}, trust_remote_code=True)')
    return "\n".join(lines)
