"""The program in a pool's worker process: loads one environment and answers requests about it over two pipes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hfenv.errors import HfenvError
from hfenv.runtime.environment import LoadedEnvironment
from hfenv.runtime.loader import prepare
from hfenv.runtime.messages import Failed, Ready, SetUp
from hfenv.runtime.pipes import leave, read_requests, send_answer, serve_pipes, take_pipes
from hfenv.runtime.policies import PolicySource, card_policy
from hfenv.runtime.serving import answer_request


class Worker:
    """One environment and the requests to it."""

    def __init__(self, answers: int) -> None:
        self._answers = answers
        self._env: LoadedEnvironment | None = None
        self._policies: dict[str, PolicySource] = {}

    def serve(self, requests: Iterator[tuple[int, Any]]) -> None:
        """Answer until the pool says to end."""
        for request_id, request in requests:
            if request is None:
                break
            try:
                if isinstance(request, HfenvError):
                    raise request
                answer = self._answer(request_id, request)
            except HfenvError as error:
                answer = Failed(type(error).__name__, error.message, error.hint)
            send_answer(self._answers, request_id, answer)
        if self._env is not None:
            self._env.close()

    def _answer(self, request_id: int, request: Any) -> Any:
        if isinstance(request, SetUp):
            self._env = prepare(request.spec, checked=True).environment(Path(request.folder))
            return Ready()
        assert self._env is not None  # noqa: S101 - the pool sets up first

        def progress(sign: Any) -> None:
            send_answer(self._answers, request_id, sign)

        return answer_request(self._env, request, self._policy, progress)

    def _policy(self, name: str) -> PolicySource:
        if name not in self._policies and self._env is not None:
            self._policies[name] = card_policy(name, self._env.spec.code, self._env.action_space)
        return self._policies[name]


def main() -> None:
    """Serve on standard input and output, after moving both out of the author's reach."""
    requests_fd, answers_fd = take_pipes()
    serve_pipes(requests_fd)
    Worker(answers_fd).serve(read_requests(requests_fd))
    leave()


if __name__ == "__main__":
    main()
