"""A lock file's entries, changes, licences and upgrades, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hfenv.cli.escapes import visible, visible_lines
from hfenv.cli.output import table
from hfenv.components.ownership import Component
from hfenv.hub.locking.editing import Change
from hfenv.hub.locking.lockfile import Entry
from hfenv.hub.locking.needs import Needs

if TYPE_CHECKING:
    from hfenv.locked.upgrade import Upgrade

UNKNOWN = "unknown"


def entry_data(entry: Entry) -> dict[str, Any]:
    """One entry as JSON."""
    components = {
        component.value: {
            "revision": locked.commit,
            "version": locked.version,
            "exact": locked.exact,
            "semantic": locked.semantic or None,
            "license": locked.license or None,
        }
        for component, locked in entry.components.items()
    }
    return {
        "ref": entry.ref,
        "hub": entry.hub,
        "repo": entry.repo,
        "release": entry.release or None,
        "components": components,
        "requires": {"python": entry.python or None, "packages": [*entry.packages], "resolved": dict(entry.resolved)},
    }


def changes_data(changes: Iterable[Change]) -> list[dict[str, Any]]:
    """What became of each entry."""
    return [
        {"change": change.word, "was": change.before.ref if change.before else None, **entry_data(change.entry)}
        for change in changes
    ]


def changes_table(changes: Sequence[Change]) -> str:
    """A row for each entry; of a mixed one, every component's commit is in the file."""
    heads = ("environment", "release", "code", "tasks", "reward", "commit", "")
    return table(heads, [(*_row(change.entry), change.word) for change in changes])


def _row(entry: Entry) -> tuple[str, ...]:
    commits = sorted(set(entry.commits.values()))
    versions = (entry.components[component].version for component in Component)
    commit = commits[0][:12] if len(commits) == 1 else f"{len(commits)} commits"
    return visible(entry.ref), entry.release or "-", *versions, commit


def licences_data(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Licences of each entry; null for what nobody names."""
    return [
        {
            "ref": entry.ref,
            "repo": entry.repo,
            **{component.value: locked.license or None for component, locked in entry.components.items()},
            "resources": {resource.name: resource.license or None for resource in entry.resources},
            "unknown": _unknown(entry),
        }
        for entry in entries
    ]


def _unknown(entry: Entry) -> list[str]:
    names = [component.value for component, locked in entry.components.items() if not locked.license]
    return [*names, *(f"resource {resource.name}" for resource in entry.resources if not resource.license)]


def licences_table(entries: Sequence[Entry]) -> str:
    """A row for each entry, and a last line where something is unknown."""
    rows = []
    for entry in entries:
        own = (visible(entry.components[component].license) or UNKNOWN for component in Component)
        resources = "; ".join(visible(f"{one.name}: {one.license or UNKNOWN}") for one in entry.resources)
        rows.append((visible(entry.ref), *own, resources or "-"))
    lines = [table(("environment", "code", "tasks", "reward", "resources"), rows)]
    lines += [visible(f"{e.ref}: nobody says under which licence {', '.join(_unknown(e))} may be used.")
              for e in entries if _unknown(e)]  # fmt: skip
    return "\n".join(lines)


def upgrade_data(upgrade: Upgrade) -> dict[str, Any]:
    """An upgrade with its changelog entries, and the comparison's first line."""
    return {
        "ref": upgrade.after.ref,
        "from": {"release": upgrade.before.release or None, **_versions(upgrade.before)},
        "to": {"release": upgrade.after.release or None, **_versions(upgrade.after)},
        "changes": {
            component.value: [
                {"version": one.version, "date": one.date, "text": one.text, "breaking": one.breaking} for one in notes
            ]
            for component, notes in upgrade.notes.items()
        },
        "comparable": upgrade.comparable or None,
        "problem": upgrade.problem or None,
    }


def _versions(entry: Entry) -> dict[str, str]:
    return {component.value: locked.version for component, locked in entry.components.items()}


def _named(entry: Entry) -> str:
    return entry.release or ", ".join(f"{name} {version}" for name, version in _versions(entry).items())


def upgrade_text(upgrade: Upgrade) -> str:
    """Markdown: whether numbers stay comparable, then what changes, component by component."""
    before, after = upgrade.before, upgrade.after
    old, new = (
        entry.release or ", ".join(f"{c} {v}" for c, v in _versions(entry).items()) for entry in (before, after)
    )
    blocks = [f"{after.repo}: what changes for you from {old} to {new}"]
    blocks += [f"Numbers: {upgrade.comparable}."] if upgrade.comparable else []
    blocks += [f"What changes can't be told: {upgrade.problem}"] if upgrade.problem else []
    for component, notes in upgrade.notes.items():
        versions = f"{before.components[component].version} -> {after.components[component].version}"
        blocks.append(f"# {component.value} {versions}")
        for one in notes:
            date = f" - {one.date}" if one.date else ""
            blocks.append(f"## [{one.version}]{date}{' - BREAKING' if one.breaking else ''}")
            blocks += [one.text] if one.text else []
        blocks += [] if notes else ["(its changelog says nothing)"]
    blocks += [
        f"# {component.value} goes back from {before.components[component].version} to "
        f"{after.components[component].version}"
        for component in upgrade.back
    ]
    return visible_lines("\n\n".join(blocks))


def needs_data(needs: Needs) -> dict[str, Any]:
    """The requirements and for whom they are."""
    return {
        "python": needs.python or None,
        "requirements": [
            {"requirement": line.requirement, "environments": [entry.ref for entry in line.entries]}
            for line in needs.lines
        ],
    }
