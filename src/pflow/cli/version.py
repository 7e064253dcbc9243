"""`pflow --version`, which loads nothing to tell it."""

import sys

from uraniborg.kernel.version import version


def print_version(*, as_json: bool) -> None:
    number = version()
    text = f'{{"version": "{number}"}}\n' if as_json else f"pflow {number}\n"
    try:
        _write(text)
    except (OSError, AttributeError):  # nobody reads it, or it cannot be written, or it is closed
        from uraniborg.kernel.cli import run_command

        run_command(lambda: _write(text))


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
