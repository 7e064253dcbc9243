"""Whether the pflow home can be one: whoever set it wrongly should hear of that, and not of an empty library."""

import os
from pathlib import Path

from uraniborg.kernel.errors import Unavailable


def check_home(home: Path) -> None:
    """Raises Unavailable for what is no folder that can be read, and cannot become one."""
    problem = _problem(home)
    if problem:
        raise Unavailable(
            f"The pflow home {home} {problem}.",
            hint="Move away what is there, set its permissions right, or set PFLOW_HOME to another folder.",
            path=str(home),
        )


def _problem(home: Path) -> str:
    try:
        if home.exists():
            if not home.is_dir():
                return "is no folder"
            return "" if os.access(home, os.R_OK | os.X_OK) else "cannot be read: Permission denied"
        above = next(folder for folder in home.absolute().parents if folder.exists())
    except (OSError, ValueError) as exc:
        return f"cannot be read: {exc.strerror if isinstance(exc, OSError) else 'this is no path'}"
    if not above.is_dir():
        return f"cannot be made: {above} is no folder"
    return "" if os.access(above, os.W_OK | os.X_OK) else f"cannot be made: {above} cannot be written"
