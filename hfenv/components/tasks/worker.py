"""A process that reads ranges of task files for another one: framed messages on standard input and output."""

from __future__ import annotations

import gc
import pickle
import struct
import sys
from typing import IO, Any

_LENGTH = struct.Struct(">Q")
PROBE = "which process hashes like this one?"


def send(stream: IO[bytes], message: Any) -> None:
    """Write one message: its length in eight bytes, then itself."""
    data = pickle.dumps(message, protocol=4)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Read one message; raises EOFError where the other side is gone."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 - both ends are one program, and nobody else has the pipe


def main() -> None:
    """Say how this process hashes, take the function that does the work, then answer each job with what it returns."""
    gc.disable()  # rows are trees: looking for cycles in millions of them finds none
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    try:
        send(sink, hash(PROBE))
        work = receive(source)
        while True:
            send(sink, work(receive(source)))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        return
