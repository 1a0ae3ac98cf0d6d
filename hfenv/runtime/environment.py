"""The environment that `load` returns: one face for every author's code, synchronous and asynchronous."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from hfenv.card.manifest import RewardSection
from hfenv.errors import AuthorCodeError, HfenvError, UsageError
from hfenv.runtime import spaces
from hfenv.runtime.chat import ChatTemplate, Message, extract
from hfenv.runtime.contracts import Environment, StepResult
from hfenv.runtime.driver import Driver, StageError, TurnFacts
from hfenv.runtime.eventloop import run_awaiting, run_blocking, run_in, run_through
from hfenv.runtime.faults import describe, short_traceback
from hfenv.runtime.folders import WorkFolder
from hfenv.runtime.seeds import SeedStream
from hfenv.runtime.spec import EnvironmentSpec, Provenance
from hfenv.runtime.tasks import Row, TaskSet

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

T = TypeVar("T")
_TOLERANCE = 1e-6  # of the range's width: sums of floats don't land exactly on its ends


class LoadedEnvironment:
    """A loaded environment: `reset`, `step`, `close`, their twins `areset`, `astep`, `aclose`, `render` and `parse`.

    Used from one caller at a time. The synchronous face runs plain authors' code in the caller's thread; the
    asynchronous one in a thread of its own, so that the caller's event loop goes on. Code that was first used
    synchronously stays where it is. Authors' coroutines run on a background event loop.
    """

    def __init__(
        self,
        *,
        spec: EnvironmentSpec,
        tasks: TaskSet,
        provenance: Provenance,
        build: Callable[[Path], Driver],
        asynchronous: bool,
        work_root: Path | None = None,
    ) -> None:
        """`build` makes a driver with a new author's instance that works in the folder it is given."""
        self.spec = spec
        self.tasks = tasks
        self.provenance = provenance
        self.seed: int | None = None
        self.last_turn: TurnFacts | None = None
        self.episode_return = 0.0
        self._build = build
        self._asynchronous = asynchronous
        self._work_root = work_root
        self._stream = SeedStream()
        self._row: Row = {}
        self._running = False
        self._used_synchronously = False
        self._last_observation: Any = None
        self._chat = ChatTemplate(spec.code)
        self._thread: ThreadPoolExecutor | None = None
        self._folder: WorkFolder | None = None
        self._driver: Driver | None = None
        self._closed = False
        self._construct()

    # -- the faces ------------------------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, task_id: str | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; returns (observation, info).

        `seed` selects a task and starts a stream that later resets without a seed continue; `task_id` selects a task
        by id; `options={"where": {field: value or list of values}}` selects among the tasks with these meta fields.
        NotFoundError when there is no such task, AuthorCodeError when the author's set-up fails.
        """
        return self._run(self._reset(seed, task_id, options))

    def step(self, action: Any) -> StepResult:
        """Carry out an action. UsageError before `reset` and after the end of an episode.

        An exception in author code ends the episode as an infrastructure fault (`info["hfenv"]["mask"]` is True);
        AuthorCodeError when the author breaks the contract: data that isn't JSON, a reward that is NaN or out of range.
        """
        return self._run(self._step(action))

    def close(self) -> None:
        """Release everything and remove the working folder; more than once does nothing."""
        if not self._closed:
            self._run(self._close())
            self._stop_thread()

    async def areset(
        self, *, seed: int | None = None, task_id: str | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """`reset` without blocking the caller's event loop."""
        return await self._arun(self._reset(seed, task_id, options))

    async def astep(self, action: Any) -> StepResult:
        """`step` without blocking the caller's event loop."""
        return await self._arun(self._step(action))

    async def aclose(self) -> None:
        """`close` without blocking the caller's event loop."""
        if not self._closed:
            await self._arun(self._close())
            self._stop_thread()

    def render(self, observation: Any) -> list[Message]:
        """Chat messages for an observation: only what is new since the last turn, with OpenAI's keys."""
        if (own := self._author_method("render")) is None:
            return self._chat.messages(observation, self._driver.turns if self._driver is not None else 0)
        messages: list[Message] = self._ask_author("render", own, observation)
        return messages

    def parse(self, completion: Any) -> Any:
        """The action in a model's completion (a text or a message), by default as the card's `action.extract` says."""
        own = self._author_method("parse")
        if own is not None:
            return self._ask_author("parse", own, completion)
        return extract(completion, self.spec.code.manifest.action)

    @property
    def action_space(self) -> Any:
        """The author's own space where the class has one, else a `Space` from the card."""
        own = getattr(self.unwrapped, "action_space", None)
        return own if own is not None else spaces.action_space(self.spec.code.manifest.action)

    @property
    def observation_space(self) -> Any:
        """The author's own space where the class has one, else a `Space` from the card."""
        own = getattr(self.unwrapped, "observation_space", None)
        return own if own is not None else spaces.observation_space(self.spec.code.manifest.observation)

    @property
    def unwrapped(self) -> Any:
        """The author's instance; None after close."""
        return self._driver.instance if self._driver is not None else None

    @property
    def reward(self) -> RewardSection:
        """The reward's section of the card: range, floor, scope."""
        return self.spec.reward.manifest.reward

    @property
    def task(self) -> Row:
        """What a policy may see of the current task: `id`, input and meta fields."""
        return self.tasks.shown(self._row)

    @property
    def task_row(self) -> Row:
        """The whole row of the current task, targets included: for records and the oracle, not for policies."""
        return copy.deepcopy(self._row)

    def __enter__(self) -> LoadedEnvironment:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"split {self.tasks.split}, {len(self.tasks)} tasks"
        return f"<hfenv environment {self.spec.repo or self.spec.name} ({state})>"

    # -- where calls run ------------------------------------------------------------------------------------------

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._asynchronous:
            return run_blocking(coroutine)
        if self._thread is not None:
            return self._thread.submit(run_through, coroutine).result()
        self._used_synchronously = True
        return run_through(coroutine)

    async def _arun(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._asynchronous:
            return await run_awaiting(coroutine)
        if self._used_synchronously or self._closed:
            return run_through(coroutine)
        if self._thread is None:
            from concurrent.futures import ThreadPoolExecutor

            # What the author opened so far (an SQLite connection, a browser) may belong to this thread: begin again.
            await self._close()
            self._closed = False
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="hfenv-environment")
        return await run_in(self._thread, coroutine)

    def _stop_thread(self) -> None:
        if self._thread is not None:
            self._thread.shutdown(wait=False)
            self._thread = None

    def _author_method(self, name: str) -> Callable[[Any], Any] | None:
        """A method that the author added; a gymnasium.Env has a `render` of another meaning."""
        own = getattr(self.unwrapped, name, None)
        return own if isinstance(self.unwrapped, Environment) and callable(own) else None

    def _ask_author(self, name: str, method: Callable[[Any], Any], value: Any) -> Any:
        try:
            return method(value)
        except (Exception, SystemExit) as error:
            raise AuthorCodeError(
                f"{name} failed: {describe(error, self.spec.code.root)}.", "Correct the environment's code."
            ) from error

    # -- life of the author's instance ----------------------------------------------------------------------------

    def _construct(self) -> Driver:
        self._folder = WorkFolder(self._work_root)
        try:
            self._driver = self._build(self._folder.path)
        except BaseException:
            self._folder.remove()
            raise
        self._driver.on_loop = self._asynchronous
        return self._driver

    async def _discard(self) -> None:
        """Close the author's instance, whatever it says, and remove its folder."""
        driver, self._driver = self._driver, None
        self._running = False
        try:
            if driver is not None:
                await driver.close()
        except StageError:
            pass  # closing is the last thing that happens to an instance: its failure changes no episode
        finally:
            if self._folder is not None:
                self._folder.remove()

    async def _close(self) -> None:
        self._closed = True
        await self._discard()

    # -- episodes -------------------------------------------------------------------------------------------------

    async def _reset(
        self, seed: int | None, task_id: str | None, options: Mapping[str, Any] | None
    ) -> tuple[Any, dict[str, Any]]:
        if self._closed:
            raise UsageError("The environment is closed.", "Load it again.")
        start = time.perf_counter()
        if options is not None and not isinstance(options, Mapping):
            raise UsageError(f"reset got options of type {type(options).__name__}.", "Pass a mapping.")
        extra = dict(options or {})
        where, task_id = extra.pop("where", None), extra.pop("task_id", None) or task_id
        if task_id is not None and where is not None:
            raise UsageError("reset got a task_id and a where.", "Give one of the two.")
        self.seed = self._stream.next(seed)
        row = self.tasks.by_id(task_id) if task_id is not None else self.tasks.by_seed(self.seed, where)
        # After a fault the instance is in an unknown state, and was thrown away.
        driver = self._driver or self._construct()
        self._running, self.last_turn, self.episode_return = False, None, 0.0
        self._row = copy.deepcopy(row)
        try:
            observation, author_info = await driver.begin(row, self.seed, extra)
            state = await driver.state()
        except StageError as error:
            await self._discard()
            raise self._failed_setup(error) from error.__cause__
        except AuthorCodeError:
            await self._discard()
            raise
        self._running, self._last_observation = True, observation
        elapsed = time.perf_counter() - start
        facts = TurnFacts(None, timings={"start": elapsed}, author_info=author_info)
        info = self._info(facts, elapsed, state)
        info["hfenv"]["provenance"] = copy.copy(self.provenance)
        return observation, info

    async def _step(self, action: Any) -> StepResult:
        driver = self._driver
        if driver is None or not self._running:
            happened = "The environment is closed." if self._closed else "There is no running episode to step in."
            raise UsageError(happened, "Call reset first; an episode is over once it was terminated or truncated.")
        start = time.perf_counter()
        state = None
        try:
            facts = await driver.act(action)
            state = await driver.state()
            if facts.status == "infra_fault":
                error = facts.error or "The reward reported an infrastructure fault."
                facts = replace(facts, reward=0.0, terminated=False, truncated=True, error=error)
                await self._discard()
        except StageError as error:
            await self._discard()
            text = short_traceback(error.__cause__ or error)
            facts = TurnFacts(action, status="infra_fault", truncated=True, error=text)
        except AuthorCodeError:
            await self._discard()
            raise
        self.last_turn = facts
        self.episode_return += facts.reward
        if facts.terminated or facts.truncated:
            self._running = False
            self._check_range(facts)
        info = self._info(facts, time.perf_counter() - start, state)
        observation = self._last_observation if facts.status == "infra_fault" else facts.observation
        self._last_observation = observation
        return StepResult(observation, facts.reward, facts.terminated, facts.truncated, info)

    def _check_range(self, facts: TurnFacts) -> None:
        section = self.reward
        slack = _TOLERANCE * (section.high - section.low)
        within = section.low - slack <= self.episode_return <= section.high + slack
        if facts.status != "infra_fault" and not within:
            raise AuthorCodeError(
                f"The episode of task '{self._row['id']}' returned {self.episode_return:g}, outside of the declared "
                f"range [{section.low:g}, {section.high:g}].",
                "Correct the reward or environment.reward.range on the card.",
            )

    def _info(self, facts: TurnFacts, elapsed: float, state: Any) -> dict[str, Any]:
        return {
            "raw_output": None,
            "error": None,
            "state": None,
            **facts.author_info,
            "task_id": self._row["id"],
            "elapsed_s": elapsed,
            **_given(raw_output=facts.output, error=facts.error, state=state),
            "hfenv": {
                "status": facts.status,
                "mask": facts.status == "infra_fault",
                "parts": dict(facts.parts),
                "timings": dict(facts.timings),
                "sandbox": None,
            },
        }

    def _failed_setup(self, error: StageError) -> HfenvError:
        cause = error.__cause__ or error
        return AuthorCodeError(
            f"Setting up task '{self._row['id']}' failed: {describe(cause, self.spec.code.root)}.",
            "Correct the environment's code.",
        )


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
