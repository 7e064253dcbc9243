"""Default arguments that differ from the same values given explicitly.

A call that leaves out `max_results` uses the configuration; a call that says `max_results=100` means 100.
"""

from typing import Final


class _DefaultInt(int):
    pass


class _DefaultStr(str):
    __slots__ = ()


DEFAULT_MAX_RESULTS: Final[int] = _DefaultInt(100)
DEFAULT_DOMAIN: Final[str] = _DefaultStr("general")


def is_default(value: object) -> bool:
    """Return True for a default that the caller left in place."""
    return isinstance(value, _DefaultInt | _DefaultStr)
