"""Where a process of the command line begins: streams that are there, and a Ctrl-C that ends without a traceback."""

from __future__ import annotations

import atexit
import gc
import os
import sys

INTERRUPTED = 130  # as shells have it: 128 + SIGINT


def main() -> None:
    """Run the command line. What it imports takes a moment, in which it may be interrupted too."""
    try:
        _collect_seldom()
        _open_what_is_closed()
        from hfenv.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _collect_seldom() -> None:
    """Most commands live for a moment: looking for cycles among what was just loaded finds none, and takes a tenth."""
    gc.set_threshold(50_000, 20, 20)
    # At the end, too, everything goes at once; what has to be tidied up has handlers of its own.
    atexit.register(gc.freeze)


def _open_what_is_closed() -> None:
    # In order: the first file that is opened takes the lowest free number, and none of the command's own files should
    # come to stand where a program that it starts writes its output.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - open to the end
