"""`hfenv trust`: which remote code may run on this machine without being asked about again."""

from __future__ import annotations

from typing import Annotated

import typer

from hfenv.cli.options import FormatOption, HubOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import NotFoundError
from hfenv.hub.client import hub_key, hub_name
from hfenv.hub.references import check_repo_id
from hfenv.runtime.trust import TrustEntry, TrustStore

app = new_app(no_args_is_help=True)


@app.callback()
def _trust() -> None:
    """Which remote code may run here: exactly the code and reward that you looked at, by their digests."""


@app.command("list")
def show(fmt: FormatOption = Format.HUMAN) -> None:
    """Print what is trusted."""
    entries = TrustStore().entries
    rows = [
        (e.repo, e.endpoint, *(digest[:12] or "-" for digest in (e.code, e.reward, e.policies, e.tasks)))
        for e in entries
    ]
    human = (
        table(("repository", "hub", "code", "reward", "policies", "tasks"), rows) if rows else "Nothing is trusted yet."
    )
    quiet = "\n".join(entry.repo for entry in entries)
    Output(fmt).result("trust list", {"trusted": [_data(e) for e in entries]}, human, quiet=quiet)


@app.command()
def add(
    ref: Annotated[str, typer.Argument(help="org/name with @VERSION or @HASH, or a pulled folder.")],
    hub: HubOption = "hf",
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Trust the code, the reward, the policies and, where there is one, the generator of tasks of a release.

    Another version of them will be asked about again.
    """
    from hfenv.specify import Origin, identify

    entry = identify(ref, origin=Origin(hub))
    TrustStore().add(entry)
    human = f"Trusted: {entry.repo}, code {entry.code[:12]}, reward {entry.reward[:12]}"
    Output(fmt).result("trust add", {"trusted": [_data(entry)]}, human, quiet=entry.repo)


@app.command()
def remove(
    repo: Annotated[str, typer.Argument(help="org/name")], hub: HubOption = "hf", fmt: FormatOption = Format.HUMAN
) -> None:
    """Trust nothing of a repository any more."""
    gone = TrustStore().remove(hub_key(hub_name(hub)), check_repo_id(repo))
    if not gone:
        raise NotFoundError(
            f"Nothing of {repo} is trusted on {hub_name(hub)}.", "See hfenv trust list; name the hub with --hub."
        )
    Output(fmt).result("trust remove", {"removed": [_data(e) for e in gone]}, f"{len(gone)} removed.", quiet=repo)


def _data(entry: TrustEntry) -> dict[str, str | None]:
    return {
        "repo": entry.repo,
        "hub": entry.endpoint,
        "code": entry.code,
        "reward": entry.reward,
        "policies": entry.policies,
        "tasks": entry.tasks or None,
    }
