"""Programs and files that tests need but not every machine has. CI fails without them; other runs skip the test."""

import os
from pathlib import Path
from typing import NoReturn

import pytest

from uraniborg.console.web_files import find_web_folder


def skip_or_fail(reason: str) -> NoReturn:
    """Skip the test, or fail it if the variable CI is set."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def find_built_console() -> Path:
    """Return the folder of the built pages of the console."""
    return find_web_folder() or skip_or_fail("The console is not built: run `make console`.")
