"""`hfenv info`: everything that is known of one environment on a hub."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer

from hfenv.cli.escapes import said
from hfenv.cli.options import FormatOption, HubOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.cli.report.text import number
from hfenv.errors import UsageError
from hfenv.hub.client import connect
from hfenv.hub.references import HubReference, parse_reference
from hfenv.hub.registry.info import Info, info

app = new_app()
_SHOWN = 8  # of a list that may be long


def remote(ref: str) -> HubReference:
    """The reference to a repository; raises UsageError for a folder."""
    reference = parse_reference(ref)
    if not isinstance(reference, HubReference):
        raise UsageError(
            f"{ref} is a local folder.", "Name what is on the hub as namespace/name; see hfenv status here."
        )
    return reference


@app.command("info")
def info_command(
    ref: Annotated[str, typer.Argument(help="org/name, or one revision: org/name@1.4.0, @stable, @main, @HASH.")],
    hub: HubOption = "hf",
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Print versions, rating, benchmarks, what it needs, its size, reviews, and what is known against it."""
    reference = remote(ref)
    output = Output(fmt)
    with connect(hub) as opened:
        found = info(opened, reference)
        where = "" if opened.name == "hf" else f', hub="{opened.name}"'
    snippet = f'hfenv.load("{found.entry.repo}", revision="{found.revision}"{where}, trust_remote_code=True)'
    for notice in found.notices:
        output.warn(notice)
    output.result("info", _data(found, snippet), lambda: _render(found, snippet), quiet=found.revision)


def _data(found: Info, snippet: str) -> dict[str, object]:
    plain = {
        key: value for key, value in asdict(found).items() if key not in ("marks", "talk", "entry", "versions", "sizes")
    }
    talk = found.talk
    return plain | {
        "repo": found.entry.repo,
        **{
            key: value
            for key, value in asdict(found.entry).items()
            if key not in ("lifecycle", "rating", "score", "release")
        },
        "versions": {component.value: version for component, version in found.versions.items()},
        "sizes": {component.value: size for component, size in found.sizes.items()},
        "size": found.size,
        "rating_is": "self-reported",
        "lifecycle": asdict(found.marks.lifecycle),
        "aliases": dict(found.marks.aliases),
        "yanked": [asdict(mark) for mark in found.marks.yanked],
        "advisories": [asdict(advisory) for advisory in found.marks.advisories],
        "open_discussions": talk.open_discussions if talk else None,
        "open_pull_requests": talk.open_pulls if talk else None,
        "reviews": {"count": len(talk.reviews), "mean": talk.mean, "newest": [asdict(r) for r in talk.reviews[:5]]}
        if talk
        else None,
        "load": snippet,
    }


def _render(found: Info, snippet: str) -> str:
    entry = found.entry
    lines = [f"{entry.repo}  {entry.summary}".rstrip(), ""]
    rows = [(label, value) for label, value in _facts(found) if value]
    wide = max(len(label) for label, _ in rows)
    lines += [f"{label.ljust(wide)}  {value}" for label, value in rows]
    return "\n".join([*map(said, lines), "", said(snippet)])


def _facts(found: Info) -> Iterator[tuple[str, str]]:
    entry, needs = found.entry, found.needs
    versions = ", ".join(f"{component.value} {version}" for component, version in found.versions.items())
    yield "release", f"{found.release} ({versions}), {found.releases} in all" if found.release else "none"
    yield "revision", found.revision + (" (the head)" if found.revision == found.head else "")
    yield "aliases", ", ".join(f"{name} = {version}" for name, version in sorted(found.marks.aliases.items())[:_SHOWN])
    yield "rating", _rating(found)
    for index, one in enumerate(found.benchmarks[:_SHOWN]):
        stale = "" if one.current else f" (release {one.release or 'unknown'})"
        yield "benchmarks" if not index else "", f"{one.policy} on {one.split}: {one.metric} {one.value:g}{stale}"
    yield "action", " -> ".join(part for part in (found.observation, entry.action) if part)
    yield "tasks", ", ".join(f"{name} {rows:,}" for name, rows in list(found.rows.items())[:_SHOWN])
    yield "difficulty", ", ".join(f"{name} {many:,}" for name, many in list(entry.grades.items())[:_SHOWN])
    yield "python", needs.python or ""
    yield "packages", ", ".join(needs.packages[:_SHOWN])
    yield "system", ", ".join(needs.system[:_SHOWN])
    yield "secrets", ", ".join(needs.secrets[:_SHOWN])
    yield "network", needs.network or ""
    yield "frameworks", ", ".join(entry.frameworks[:_SHOWN])
    yield "licence", entry.licence or ("not told: gated" if found.gated and not entry.action else "none given")
    yield "size", _bytes(found.size)
    yield "changed", f"{entry.updated or '?'} (created {found.created or '?'})"
    yield "liked", f"{number(entry.likes, 'like')}, {number(entry.downloads, 'download')}"
    yield (
        "state",
        found.marks.lifecycle.status.value
        + (", private" if entry.private else "")
        + (", gated" if found.gated else ""),
    )
    yield "discussions", _talk(found)
    yield "reviews", _reviews(found)
    yield "page", found.url


def _rating(found: Info) -> str:
    mark = found.rating
    if mark is None:
        return "none"
    score = f" ({mark.score:g} of 100)" if mark.score is not None else ""
    stale = "STALE: what was audited isn't what this release holds"
    fresh = "fresh" if mark.fresh else stale if mark.known else "and what was audited isn't known"
    return f"{mark.grade}{score}, self-reported, {fresh}"


def _talk(found: Info) -> str:
    if found.talk is None:
        return ""
    more = "" if found.talk.complete else " or more"
    return f"{found.talk.open_discussions} open{more}, {found.talk.open_pulls} open pull requests"


def _reviews(found: Info) -> str:
    if found.talk is None or not found.talk.reviews:
        return ""
    newest = found.talk.reviews[0]
    last = f"newest {newest.rating}/5 for {newest.release} by {newest.author} on {newest.day}"
    return f"{len(found.talk.reviews)}, mean {found.talk.mean:.1f} of 5; {last}"


def _bytes(size: int) -> str:
    value, units = float(size), ["bytes", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.0f} {units[0]}" if value >= 10 or units[0] == "bytes" else f"{value:.1f} {units[0]}"
