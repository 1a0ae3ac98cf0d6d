"""Many instances of one environment: stepped together, or rolled out with a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from hfenv import errors
from hfenv.card.manifest import Manifest
from hfenv.errors import AuthorCodeError, HfenvError, UsageError
from hfenv.runtime import seeds
from hfenv.runtime.backend import Backend, InlineBackend, Limits
from hfenv.runtime.config import resolve_config
from hfenv.runtime.contracts import StepResult
from hfenv.runtime.environment import LoadedEnvironment
from hfenv.runtime.episode import Beginning, Job, Stepped
from hfenv.runtime.loader import prepare
from hfenv.runtime.messages import Act, Answer, Failed, Lost, Ready, Request, Reset
from hfenv.runtime.requirements import check_requirements
from hfenv.runtime.rollout import Episode
from hfenv.runtime.run import Rollout, jobs
from hfenv.runtime.spec import EnvironmentSpec
from hfenv.runtime.tasks import choose_split

BACKENDS = ("inline", "process", "auto")
_STEP_TIMEOUT = 120.0  # seconds, where neither the caller nor the card says one
_SETUP_ATTEMPTS = 3


@dataclass(frozen=True)
class PoolStats:
    """What a pool has been through. `faults` counts attempts that infrastructure spoiled, retried ones too."""

    episodes: int = 0
    faults: int = 0
    retries: int = 0
    restarts: int = 0


class EnvironmentPool:
    """`num_envs` environments, each with an instance, a working folder and (backend `process`) a process of its own.

    `step_timeout` is the outer limit of a step in seconds; without it the card's `limits.step_timeout_s` and half of
    it more, so that the environment's own inner limit comes first. `setup_timeout` covers the start of a worker, the
    import and a reset. A slot that is past its limit or dead is killed with everything that it started and set up
    again; its episode is an infrastructure fault. The backend `inline` runs in this process and can't interrupt a
    call: there the limits have no effect. `auto` is `process`.

    Use it in a `with` statement: leaving it ends every process and removes every folder, after exceptions too.
    """

    def __init__(
        self,
        source: EnvironmentSpec | Callable[[], LoadedEnvironment],
        num_envs: int,
        *,
        backend: str = "process",
        step_timeout: float | None = None,
        setup_timeout: float = 120.0,
        retries: int = 2,
    ) -> None:
        """`source` is a specification, or (backend `inline`) a factory that is called once per slot.

        UsageError for arguments that don't fit; the errors of `load_environment` when the first slot can't be set up.
        """
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise UsageError(f"num_envs is {num_envs!r}.", "Ask for one instance or more.")
        if backend not in BACKENDS:
            raise UsageError(f"There is no backend '{backend}'.", f"Backends: {', '.join(BACKENDS)}.")
        for name, seconds in (("step_timeout", step_timeout), ("setup_timeout", setup_timeout)):
            if seconds is None and name == "step_timeout":
                continue
            if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or not seconds > 0:
                raise UsageError(f"{name} is {seconds!r}.", "Give seconds, more than 0.")
        if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
            raise UsageError(f"retries is {retries!r}.", "Give a whole number, 0 or more.")
        self.num_envs = num_envs
        self.retries = retries
        self._stats = PoolStats()
        self.limits = Limits(setup_timeout, setup_timeout, step_timeout or _STEP_TIMEOUT)
        self._closed = False
        self._ready = [False] * num_envs
        self._attempts = [0] * num_envs
        self._rollout: Rollout | None = None
        self._running: dict[int, str] = {}  # slots that `reset` began an episode in, and their tasks
        self._stream = seeds.SeedStream()
        self._spec = source if isinstance(source, EnvironmentSpec) else None
        self.backend: Backend = self._make_backend(source, backend, step_timeout)
        try:
            for slot in range(num_envs):
                self.backend.start(slot)
            while not any(self._ready):  # errors of the author's come out here, not in the middle of a rollout
                for slot, answer in self.wait(None):
                    self.settle_setup(slot, answer)
        except BaseException:
            self.close()
            raise

    def _make_backend(self, source: Any, backend: str, step_timeout: float | None) -> Backend:
        if self._spec is None:
            if backend != "inline":
                raise UsageError("A factory can't be sent to other processes.", "Use backend='inline', or a spec.")
            return InlineBackend(source, self.num_envs)
        spec, manifest = self._spec, self._spec.code.manifest
        if step_timeout is None and manifest.limits.step_timeout_s is not None:
            self.limits = replace(self.limits, step=1.5 * manifest.limits.step_timeout_s + 1.0)
        if backend == "inline":
            return InlineBackend(prepare(spec).environment, self.num_envs)
        from hfenv.runtime.processes import ProcessBackend

        check_requirements(manifest.requires, spec.name)
        config = resolve_config(manifest.config, spec.config)
        split = choose_split(spec.tasks.manifest.tasks, spec.split)
        self._spec = replace(spec, config=config, split=split)
        return ProcessBackend(self._spec, self.num_envs, self.limits)

    # -- a trainer steps all slots --------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | None = None,
        task_ids: Sequence[str] | None = None,
        options: Mapping[str, Any] | None = None,
        slots: Sequence[int] | None = None,
    ) -> tuple[list[Any], list[dict[str, Any]]]:
        """Begin an episode in every slot, or in some; returns lists of observations and infos in the slots' order.

        Slot i gets seed number i of the stream that `seed` begins; without one the stream goes on. `task_ids` has one
        id per slot. AuthorCodeError when an author's set-up fails or a slot is lost.
        """
        chosen = self._slots(slots)
        self.take(None)
        if task_ids is not None and len(task_ids) != len(chosen):
            raise UsageError(f"{len(task_ids)} task ids for {len(chosen)} slots.", "Give one per slot.")
        base = self._stream.next(seed)
        requests: dict[int, Request] = {}
        for position, slot in enumerate(chosen):
            own = seeds.derive(base, slot)
            task_id = task_ids[position] if task_ids is not None else None
            requests[slot] = Reset(Job(position, own, own, task_id), record=False, options=options)
        self._set_up(chosen)
        answers = self._ask(requests, self.limits.reset)
        for _ in range(self.retries):
            lost = {slot: requests[slot] for slot, answer in answers.items() if isinstance(answer, Lost)}
            self._set_up(list(lost))
            answers |= self._ask(lost, self.limits.reset)
        for slot in chosen:
            answer = answers[slot]
            if isinstance(answer, Lost):
                raise AuthorCodeError(f"Slot {slot} was lost in reset: {answer.error}", "Correct the environment.")
            if isinstance(answer, Failed):
                raise as_error(answer)
        begun = [answer for slot in chosen if isinstance(answer := answers[slot], Beginning)]
        self._running |= {slot: entry.info["task_id"] for slot, entry in zip(chosen, begun, strict=True)}
        return [entry.observation for entry in begun], [entry.info for entry in begun]

    def step(self, actions: Sequence[Any] | Mapping[int, Any]) -> list[StepResult]:
        """Carry out an action per slot (a sequence), or in some slots (a mapping by slot); results in that order.

        A slot that is lost or whose author breaks the contract gives an infrastructure fault: reward 0.0, truncated,
        `info["hfenv"]["mask"]`. UsageError for a slot without a running episode.
        """
        if isinstance(actions, str) or not isinstance(actions, Iterable):
            raise UsageError(f"step got a {type(actions).__name__}.", "Give one action per slot, or a mapping.")
        given = dict(actions) if isinstance(actions, Mapping) else dict(enumerate(actions))
        if not isinstance(actions, Mapping) and len(given) != self.num_envs:
            raise UsageError(f"{len(given)} actions for {self.num_envs} slots.", "Give one per slot, or a mapping.")
        chosen = self._slots(list(given))
        if idle := [slot for slot in chosen if slot not in self._running]:
            raise UsageError(
                f"No episode is running in slot {', '.join(map(str, idle))}.",
                "Reset those slots first, or step the others with a mapping.",
            )
        answers = self._ask({slot: Act(given[slot], record=False) for slot in chosen}, self.limits.step)
        results = []
        for slot in chosen:
            answer = answers[slot]
            if isinstance(answer, Stepped):
                result = answer.result
            elif isinstance(answer, Failed) and answer.kind != AuthorCodeError.__name__:
                raise as_error(answer, f"Slot {slot}: ")
            else:
                error = answer.error if isinstance(answer, Lost) else str(as_error(answer))
                result = _fault(self._running[slot], error)
            if result.terminated or result.truncated:
                del self._running[slot]
            results.append(result)
        return results

    # -- a policy plays episodes ----------------------------------------------------------------------------------

    def rollout(
        self,
        policy: Any,
        *,
        episodes: int | None = None,
        tasks: Sequence[str] | None = None,
        repeats: int = 1,
        seed: int = 0,
        batched: bool = False,
        ordered: bool = True,
    ) -> Iterator[Episode]:
        """Play episodes and yield their records in the order of their index, or (`ordered=False`) as they end.

        `policy` is `random`, a name on the card (these run beside the environment), `module:function`, or a callable
        `(task, observation, info, rng) -> action`; a class is built once per episode. With `batched` a callable gets
        four lists and returns a list of actions. `episodes` counts seeds, `tasks` names tasks; each is played `repeats`
        times from the same beginning, as one group with a `group_id`. Episodes depend on `seed` alone, never on the
        number of slots. An infrastructure fault is tried again `retries` times, then yielded, masked.
        """
        self.require_open()
        return Rollout(self, policy, jobs(episodes, tasks, repeats, seed), batched, ordered).episodes()

    def stats(self) -> PoolStats:
        """What the pool has been through so far."""
        return self._stats

    # -- what the parts above share -------------------------------------------------------------------------------

    @property
    def manifest(self) -> Manifest | None:
        """The card of the code's revision; None for a pool made from a factory."""
        return self._spec.code.manifest if self._spec is not None else None

    @property
    def spec(self) -> EnvironmentSpec | None:
        return self._spec

    @property
    def ready_slots(self) -> list[int]:
        return [slot for slot, ready in enumerate(self._ready) if ready]

    def wait(self, timeout: float | None) -> list[tuple[int, Answer]]:
        """Answers of slots; notes which slots were lost with them."""
        answers = [(entry.slot, entry.answer) for entry in self.backend.wait(timeout)]
        for slot, answer in answers:
            if isinstance(answer, Lost):
                self._ready[slot] = False
        return answers

    def settle_setup(self, slot: int, answer: Answer) -> None:
        """Take the answer to `start`: raises the author's error, and after several lost workers gives up."""
        if isinstance(answer, Ready):
            self._ready[slot], self._attempts[slot] = True, 0
        elif isinstance(answer, Failed):
            raise as_error(answer)
        elif isinstance(answer, Lost):
            self._attempts[slot] += 1
            if self._attempts[slot] >= _SETUP_ATTEMPTS:
                raise AuthorCodeError(
                    f"Slot {slot} was lost {_SETUP_ATTEMPTS} times while it was set up: {answer.error}",
                    "Correct the environment, or raise setup_timeout.",
                )
            self.restart(slot)

    def restart(self, slot: int) -> None:
        """Set a slot up anew; its answer comes with `wait`."""
        self._ready[slot] = False
        self.count(restarts=1)
        self.backend.start(slot)

    def wake(self) -> None:
        """Start again the slots that were lost or given up."""
        for slot, ready in enumerate(self._ready):
            if not ready and not self.backend.busy(slot):
                self.restart(slot)

    def abandon(self, slot: int) -> None:
        """Give up what a slot is doing; it is set up again when it is next needed."""
        self._ready[slot] = False
        self.backend.drop(slot)

    def take(self, rollout: Rollout | None) -> None:
        """Begin a rollout, or (None) something else; a rollout that isn't done is ended."""
        if self._rollout is not None and self._rollout is not rollout:
            self._rollout.end()
        self._rollout = rollout
        if rollout is not None:
            self._running.clear()

    def count(self, **more: int) -> None:
        self._stats = replace(self._stats, **{name: getattr(self._stats, name) + n for name, n in more.items()})

    def _set_up(self, slots: Sequence[int]) -> None:
        """Wait until these slots are ready; those that were lost are started again."""
        self.wake()
        while not all(self._ready[slot] for slot in slots):
            for slot, answer in self.wait(None):
                self.settle_setup(slot, answer)

    def _ask(self, requests: Mapping[int, Request], seconds: float) -> dict[int, Answer]:
        for slot, request in requests.items():
            self.backend.send(slot, request, seconds)
        answers: dict[int, Answer] = {}
        while len(answers) < len(requests):
            for slot, answer in self.wait(None):
                if slot in requests and slot not in answers:
                    answers[slot] = answer
                else:
                    self.settle_setup(slot, answer)
        return answers

    def _slots(self, slots: Sequence[int] | None) -> list[int]:
        self.require_open()
        if slots is not None and not isinstance(slots, Iterable):
            raise UsageError(f"slots is {slots!r}.", "Give a list of slots.")
        chosen = list(range(self.num_envs)) if slots is None else list(dict.fromkeys(slots))
        for slot in chosen:
            if slot not in range(self.num_envs):
                raise UsageError(f"The pool has no slot {slot}.", f"Slots: 0 to {self.num_envs - 1}.")
        return chosen

    def require_open(self) -> None:
        if self._closed:
            raise UsageError("The pool is closed.", "Make a new one.")

    def close(self) -> None:
        """End every environment and process, remove every folder; more than once does nothing."""
        if not self._closed:
            self._closed = True
            if hasattr(self, "backend"):
                self.backend.close()

    def __enter__(self) -> EnvironmentPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def as_error(failed: Any, prefix: str = "") -> HfenvError:
    """The exception that a worker's `Failed` stands for."""
    kind = getattr(errors, failed.kind, HfenvError)
    error: HfenvError = kind(prefix + failed.message, failed.hint)
    return error


def _fault(task_id: str, error: str) -> StepResult:
    """The result of a step whose slot was lost."""
    details = {"status": "infra_fault", "mask": True, "parts": {}, "timings": {}, "sandbox": None}
    info = {"task_id": task_id, "raw_output": None, "elapsed_s": None, "error": error, "state": None, "hfenv": details}
    return StepResult(None, 0.0, False, True, info)
