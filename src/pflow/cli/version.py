"""`pflow --version`, which imports almost nothing."""

import sys

from uraniborg.kernel.version import version


def print_version(*, as_json: bool) -> None:
    number = version()
    text = f'{{"version": "{number}"}}\n' if as_json else f"pflow {number}\n"
    try:
        _write_and_flush(text)
    except (OSError, AttributeError):  # the reader is gone, the disk is full, or stdout is closed
        from uraniborg.kernel.cli import run_command

        run_command(lambda: _write_and_flush(text))


def _write_and_flush(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
