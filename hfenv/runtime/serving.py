"""Answers one request about one environment: the same in a worker process and in the pool's own."""

from __future__ import annotations

from collections.abc import Callable

from hfenv.runtime.environment import LoadedEnvironment
from hfenv.runtime.episode import Beginning, Stepped, begin, beginning, play
from hfenv.runtime.messages import Act, Answer, Play, Request, Reset
from hfenv.runtime.policies import PolicySource
from hfenv.runtime.rollout import TurnRecord


def answer_request(
    env: LoadedEnvironment,
    request: Request,
    policy: Callable[[str], PolicySource],
    progress: Callable[[Beginning | TurnRecord], None] | None = None,
) -> Answer:
    """Carry out a reset, a step or a whole episode; raises what these raise. `policy` finds one on the card."""
    if isinstance(request, Play):
        return play(env, policy(request.policy), request.job, progress)
    if isinstance(request, Reset):
        if not request.options:
            return begin(env, request.job, request.record)
        observation, info = env.reset(seed=request.job.seed, task_id=request.job.task_id, options=request.options)
        return beginning(env, observation, info, request.record)
    if isinstance(request, Act):
        result = env.step(request.action)
        return Stepped(result, env.last_turn if request.record else None)
    raise TypeError(f"no answer to a {type(request).__name__}")
