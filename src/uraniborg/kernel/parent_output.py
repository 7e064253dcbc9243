"""The output of a worker process to the process that started it, which may have ended."""

import os
import sys


def write_line_to_parent(line: str) -> None:
    """Write a line in UTF-8 to stdout at once, whatever the encoding of this account's terminals.

    If nobody reads stdout any more, discard this line and all later ones.
    """
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(f"{line}\n".encode())
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The interpreter would fail at exit if it had to flush the rest of stdout.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
