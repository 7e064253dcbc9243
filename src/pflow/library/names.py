"""Check names of workflows, so that the file of a name is always inside its folder."""

import re
from pathlib import Path
from typing import Final

from pflow.errors import SecurityError
from uraniborg.kernel.files import PathRefused, confine_path

LONGEST_NAME: Final = 50
SUFFIX: Final = ".json"
RULE: Final = (
    "A name has 1 to 50 characters: letters a to z and A to Z, digits, '.', '_' and '-'. It begins with a letter or "
    "digit, has no two dots in a row, and does not end in a dot."
)
_HINT: Final = "Give only the name, such as 'daily-report', without folder, '~' and '.json'."
_ALLOWED: Final = re.compile(r"[A-Za-z0-9._-]*")
_RESERVED_SUFFIX: Final = re.compile(r".*\.(?:json|tmp|lock)", re.IGNORECASE)
# Windows opens the device for any suffix.
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_HARMLESS: Final = re.compile(r"(?!.*\.\.)[ -.0-9;-\[\]-}]*")
_CORRECTABLE: Final = re.compile(r"\s*[A-Za-z0-9][A-Za-z0-9 ._/-]*")
"""Names with spaces, folders below the home, or the suffix."""
_SHOWN: Final = 20


def validate_name(name: str) -> str:
    """Return the name if it is valid. Raise SecurityError."""
    allowed = _ALLOWED.match(name)
    valid_prefix = allowed[0] if allowed else ""
    if problem := _find_name_problem(name, valid_prefix):
        raise _make_name_error(name, valid_prefix[:_SHOWN], problem)
    return name


def locate_workflow_file(folder: Path, name: str) -> Path:
    """Return the path of the file, which may not exist. Raise SecurityError, also for links out of the folder."""
    path = folder / f"{validate_name(name)}{SUFFIX}"
    try:
        confine_path(folder, path.name)
    except PathRefused:
        raise SecurityError(
            f"The file of the workflow '{name}' leads out of its folder.",
            hint="Put the file itself into the folder, not a link to it.",
        ) from None
    return path


def _find_name_problem(name: str, valid_prefix: str) -> str:
    problems = {
        "it is empty": not name,
        f"it has {len(name):,} characters": len(name) > LONGEST_NAME,
        f"character {len(valid_prefix) + 1} is not allowed": len(valid_prefix) < len(name),
        "it begins with neither a letter nor a digit": not valid_prefix[:1].isalnum(),
        "it has two dots in a row": ".." in valid_prefix,
        "it ends in a dot": valid_prefix.endswith("."),
        "its ending is reserved for files": bool(_RESERVED_SUFFIX.fullmatch(valid_prefix)),
        "some systems reserve it for a device": bool(_DEVICE.fullmatch(valid_prefix)),
    }
    return next((problem for problem, holds in problems.items() if holds), "")


def _make_name_error(name: str, shown_start: str, problem: str) -> SecurityError:
    """Return the error for an invalid name. The message quotes at most the start of a harmless name."""
    is_shown = shown_start and _HARMLESS.fullmatch(name)
    quoted = f"'{shown_start}{'…' if len(name) > len(shown_start) else ''}'" if is_shown else "This"
    suggested = _suggest_name(name)
    hint = f"Write '{suggested}'. {_HINT}" if suggested else _HINT
    return SecurityError(f"{quoted} is not a valid workflow name: {problem}. {RULE}", hint=hint)


def _suggest_name(name: str) -> str:
    """Return the valid name that was probably meant; an empty text if the name may lead out of the folder."""
    if not _CORRECTABLE.fullmatch(name) or ".." in name:
        return ""
    last = name.strip().removesuffix(SUFFIX).rpartition("/")[2]
    suggested = "-".join(last.lower().split())
    return "" if not suggested or _find_name_problem(suggested, suggested) else suggested
