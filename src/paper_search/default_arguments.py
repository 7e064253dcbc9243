"""Tell a default argument from the same value given explicitly.

A call without `max_results` uses the configuration; a call with `max_results=100` uses 100.
"""

from typing import Final


class _DefaultInt(int):
    pass


class _DefaultStr(str):
    __slots__ = ()


DEFAULT_MAX_RESULTS: Final[int] = _DefaultInt(100)
DEFAULT_DOMAIN: Final[str] = _DefaultStr("general")


def is_default(value: object) -> bool:
    """Return True for a default value that the caller did not replace."""
    return isinstance(value, _DefaultInt | _DefaultStr)
