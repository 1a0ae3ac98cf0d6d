"""What `hfenv push` prints: one push, what one would do, and a table of several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hfenv.cli.escapes import said
from hfenv.cli.output import table
from hfenv.cli.report.text import number
from hfenv.hub.plan import Preview
from hfenv.hub.push import PushResult
from hfenv.hub.pusheach import EachResult, Outcome
from hfenv.secret_shapes import redacted


def push_data(result: PushResult, *, dry_run: bool) -> dict[str, Any]:
    """One push as JSON; a dry run has digests, components and what is left out besides."""
    data: dict[str, Any] = {
        "repo": result.repo,
        "revision": result.revision,
        "release": result.release,
        "versions": {component.value: version for component, version in result.versions.items()},
        "tags": list(result.tags),
        "created": result.created,
        "private": result.private,
        "url": result.url,
        "uploaded": [{"path": path, "bytes": size} for path, size in sorted(result.uploaded.items())],
        "deleted": list(result.deleted),
        "branch": result.branch,
        "pull_request": result.pull_request,
        "dry_run": dry_run,
    }
    if (seen := result.preview) is not None:
        data["uploaded"] = [
            {"path": path, "bytes": size, "sha256": seen.digests[path]}
            for path, size in sorted(result.uploaded.items())
        ]
        data["bytes"] = sum(result.uploaded.values())
        data["components"] = {
            component.value: {"version": result.versions[component], "exact": digest, "new": component in seen.moved}
            for component, digest in seen.components.items()
        }
        data["ignored"] = [
            {"path": out.path, "files": out.files, "pattern": out.pattern, "source": out.source, "line": out.line}
            for out in seen.ignored
        ]
    return data


def push_text(result: PushResult, hub: str) -> str:
    """What a push did, or with `dry_run` would do, for people."""
    if result.preview is not None:
        return _preview_text(result, result.preview)
    lines = []
    if result.pull_request is not None:
        found = "Opened" if result.created else "There is already"
        lines.append(f"{found} a pull request with {_sum(result)} for {result.repo}.")
        lines.append(f"It would be release {result.release}: {_versions(result)}")
        lines.append(f"Revision {result.revision}")
        lines.append(result.pull_request)
        lines.append("Nothing is released before it is merged; hfenv push then makes the tags.")
        return "\n".join(lines)
    if result.created:
        lines.append(f"Pushed {_sum(result)} to {result.repo} ({_visibility(result)}).")
        lines += [f"  deleted {path}" for path in result.deleted]
    else:
        lines.append(f"{result.repo} ({_visibility(result)}) has it all already; no commit was made.")
    tags = f" (new: {', '.join(result.tags)})" if result.tags else ""
    still = "Still release" if result.created and not result.tags else "Release"
    lines.append(f"{still} {result.release}: {_versions(result)}{tags}")
    lines.append(f"Revision {result.revision}")
    lines.append(result.url)
    where = f', hub="{hub}"' if hub != "hf" else ""
    lines.append(f'\n  env = hfenv.load("{result.repo}", revision="{result.revision}"{where}, trust_remote_code=True)')
    return "\n".join(lines)


def _preview_text(result: PushResult, seen: Preview) -> str:
    """What a push would do, for people: files with bytes and digest, deletions, versions, tags, what is left out."""
    lines = [
        f"  send    {said(path)} ({size:,} bytes, {seen.digests[path][:12]})"
        for path, size in sorted(result.uploaded.items())
    ]
    lines += [f"  delete  {said(path)}" for path in result.deleted]
    lines.append(f"Would send {_sum(result)} to {result.repo} ({_visibility(result)}).")
    lines.append(f"Release {result.release}: {_versions(result)}; tags {', '.join(result.tags) or 'none'}.")
    for component, digest in seen.components.items():
        new = " (new)" if component in seen.moved else ""
        lines.append(f"  {component.value} {result.versions[component]}{new} {digest.removeprefix('sha256:')[:12]}")
    if seen.ignored:
        files = Counter[str]()
        for out in seen.ignored:
            files[out.rule] += out.files
        told = ", ".join(f"{said(rule)} ({count:,})" for rule, count in files.most_common(6))
        more = f" and {len(files) - 6} more rules" if len(files) > 6 else ""
        lines.append(f"Left out {number(sum(files.values()), 'file')} by {told}{more}.")
    return "\n".join(lines)


def each_data(results: Sequence[EachResult], *, dry_run: bool) -> dict[str, Any]:
    """Several pushes as JSON: a list in the order in which they were made."""
    return {"dry_run": dry_run, "environments": [_one(each, dry_run=dry_run) for each in results]}


def each_text(results: Sequence[EachResult]) -> str:
    """Several pushes as one table and a line that counts them."""
    rows = [
        (
            said(str(each.folder)), each.outcome.value, each.repo or "-",
            each.result.release if each.result else "-",
            (each.revision or "")[:12] or (f"exit {each.exit_code}" if each.exit_code else "-"),
        )
        for each in results
    ]  # fmt: skip
    counts = Counter(each.outcome for each in results)
    told = ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome if counts[outcome])
    printed = table(("folder", "result", "repository", "release", "revision"), rows)
    return f"{printed}\n{number(len(results), 'environment')}: {told}."


def _one(each: EachResult, *, dry_run: bool) -> dict[str, Any]:
    error = each.error
    return {
        "folder": each.folder.as_posix(),
        "outcome": each.outcome.value,
        "exit_code": each.exit_code,
        "error": None if error is None else {"message": redacted(error.message), "hint": redacted(error.hint)},
        "repo": each.repo,
        "revision": each.revision,
        "push": None if each.result is None else push_data(each.result, dry_run=dry_run),
    }


def _sum(result: PushResult) -> str:
    return f"{number(len(result.uploaded), 'file')} ({sum(result.uploaded.values()):,} bytes)"


def _versions(result: PushResult) -> str:
    return ", ".join(f"{component.value} {version}" for component, version in result.versions.items())


def _visibility(result: PushResult) -> str:
    return "private" if result.private else "public"
