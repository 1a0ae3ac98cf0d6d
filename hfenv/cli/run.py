"""`hfenv run`: roll out a policy in a pool and print what it earned."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from hfenv.cli.options import FormatOption, HubOption, LockOption, OfflineOption, TrustOption, new_app
from hfenv.cli.output import Format, Output
from hfenv.errors import AuthorCodeError
from hfenv.runtime.rollout import Episode, RolloutWriter
from hfenv.runtime.summary import Summary, summarise

app = new_app()


@app.command()
def run(
    ref: Annotated[str, typer.Argument(help="A folder, or org/name with @VERSION, @HASH or @main.")],
    policy: Annotated[
        str, typer.Option("--policy", help="random, one on the card (oracle, heuristic), or module:function.")
    ] = "random",
    split: Annotated[str | None, typer.Option("--split", help="The split to draw tasks from.")] = None,
    episodes: Annotated[int, typer.Option("--episodes", min=1, help="How many beginnings to play.")] = 20,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Episodes from each beginning, as a group.")] = 1,
    num_envs: Annotated[int, typer.Option("--num-envs", min=1, help="Instances side by side.")] = 2,
    backend: Annotated[str, typer.Option("--backend", help="process or inline.")] = "process",
    seed: Annotated[int, typer.Option("--seed", help="Decides tasks and everything random.")] = 0,
    show: Annotated[int, typer.Option("--show", min=0, help="Print the first N episodes turn by turn.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", help="Write the episodes to a JSON Lines file.")] = None,
    lock: LockOption = None,
    hub: HubOption = "hf",
    offline: OfflineOption = False,
    trust_remote_code: TrustOption = False,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Roll out a policy and print what it earned."""
    from hfenv.loading import EnvironmentPool

    output = Output(fmt)
    shown: list[Episode] = []
    with ExitStack() as stack:
        writer = stack.enter_context(RolloutWriter(out, policy=policy)) if out else None
        pool = stack.enter_context(
            EnvironmentPool(
                ref, num_envs, split=split, hub=hub, lock=lock, offline=offline,
                trust_remote_code=trust_remote_code, backend=backend,
            )
        )  # fmt: skip
        advance = stack.enter_context(output.progress(episodes * repeats, f"{policy} on {ref}", unit="episode"))
        played = pool.rollout(policy, episodes=episodes, repeats=repeats, seed=seed)
        start = time.perf_counter()
        summary = summarise(_watched(played, writer, shown, show, advance))
        seconds = time.perf_counter() - start
    asked = {"policy": policy, "seed": seed, "out": str(out) if out else None}
    data = {**asdict(summary), "episodes_per_second": summary.episodes / seconds, **asked}
    mean = "" if summary.mean_return is None else f"{summary.mean_return:.6g}"
    output.result("run", data, lambda: _render(summary, shown, seconds), quiet=mean)
    if summary.mean_return is None:
        reason = summary.first_fault or "no reason was given"
        cure = "Look at it with --show 1, and correct the environment or its limits."
        raise AuthorCodeError(f"No episode came to an end that counts. The first one: {reason}", cure)


def _watched(
    played: Iterable[Episode],
    writer: RolloutWriter | None,
    shown: list[Episode],
    show: int,
    advance: Callable[[int], None],
) -> Iterator[Episode]:
    """The episodes as they come, each written, counted, and kept if it is to be shown."""
    for episode in played:
        if writer:
            writer.write(episode)
        if len(shown) < show:
            shown.append(episode)
        advance(1)
        yield episode


def _render(summary: Summary, shown: list[Episode], seconds: float) -> str:
    lines = [line for episode in shown for line in _transcript(episode)]
    if summary.mean_return is not None:
        u = "-" if summary.mean_u is None else f"{summary.mean_u:.3f}"
        means = f"mean return {summary.mean_return:.3f}, u {u} (0 = nothing useful, 1 = best)"
        lines.append(f"{summary.episodes} episodes in {seconds:.1f} s: {means}")
        if summary.faults:
            lines.append(f"{summary.faults} were spoiled and left out of the means; the first: {summary.first_fault}")
    where = summary.provenance
    if where:
        versions = ", ".join(f"{name} {where[name]['version']}" for name in ("code", "tasks", "reward"))
        edited = ", unreleased" if where.get("unreleased") else ""
        lines.append(f"{versions}, split {where['split']}, {where['code']['revision'] or 'local folder'}{edited}")
    return "\n".join(lines)


def _transcript(episode: Episode) -> Iterator[str]:
    yield f"--- episode {episode.index}: task {episode.task_id}, return {episode.total:.3f}, {episode.status}"
    for turn in episode.turns:
        yield f"  action  {_short(turn.completion if turn.completion is not None else turn.action)}"
        yield f"  outcome {_short(turn.data)}"
        if isinstance(turn.extra, Mapping) and turn.extra.get("error"):
            yield f"  fault   {_short(turn.extra['error'])}"
        yield f"  reward  {turn.reward:.3f} {_short(dict(turn.parts)) if turn.parts else ''}".rstrip()


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= 200 else text[:197] + "..."
