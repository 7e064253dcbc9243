"""`pflow --version`, which loads nothing to tell it."""

import os
import sys

from uraniborg.kernel.version import version


def print_version(*, as_json: bool) -> None:
    number = version()
    try:
        sys.stdout.write(f'{{"version": "{number}"}}\n' if as_json else f"pflow {number}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # What stdout still holds must go nowhere, or the interpreter complains of it when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
