"""`hfenv demo`: the whole round trip on the embedded hub."""

from __future__ import annotations

from typing import Annotated

import typer

from hfenv.cli.options import FormatOption, new_app
from hfenv.cli.output import Format, Output, table
from hfenv.errors import ExitCode

app = new_app()

# What the example's policies must earn (in u), and that a warm load by hash asks for nothing.
BOUNDS = {"oracle": (0.95, 1.0), "heuristic": (0.5, 0.9), "random": (0.0, 0.1)}


@app.command()
def demo(
    episodes: Annotated[int, typer.Option("--episodes", min=1, help="Episodes per policy and release.")] = 100,
    num_envs: Annotated[int, typer.Option("--num-envs", min=1, help="Instances side by side.")] = 2,
    fmt: FormatOption = Format.HUMAN,
) -> None:
    """Push the SQL example, change its reward, bump, push again, load both by hash, mix them, and roll out.

    Everything happens in a folder of its own that is removed afterwards.
    """
    from hfenv.demo import POLICIES, run_demo

    output = Output(fmt)
    with output.progress(9 * episodes, "rolling out", unit="episode") as advance:
        report = run_demo(output.note, advance, episodes=episodes, num_envs=num_envs)
    rows = [
        (
            row.label,
            row.revision[:12],
            row.versions,
            row.policy,
            f"{row.summary.mean_return or 0.0:.3f}",
            f"{row.summary.mean_u or 0.0:.3f}",
            f"{row.episodes_per_second:.0f}",
            row.requests,
        )
        for row in report.rows
    ]
    headers = ("loaded", "revision", "code / tasks / reward", "policy", "return", "u", "episodes/s", "requests")
    means = {policy: report.mean_u(policy) for policy in POLICIES}
    wrong = [name for name, (low, high) in BOUNDS.items() if not low <= means[name] <= high]
    data = {
        "rows": [
            dict(zip(("loaded", "revision", "versions", "policy", "return", "u", "eps", "requests"), row, strict=True))
            for row in rows
        ],
        "requests": {"cold": report.cold, "warm": report.warm},
        "mean_u": means,
        "out_of_bounds": wrong,
    }
    ending = f"Loading the second release by hash took {report.cold} requests, and {report.warm} the second time."
    output.result("demo", data, f"{table(headers, rows)}\n{ending}")
    if wrong or report.warm:
        output.warn(f"Not as it should be: {', '.join(wrong) or 'a warm load by hash made requests'}.")
        raise typer.Exit(ExitCode.FINDINGS)
