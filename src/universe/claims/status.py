"""The status of one value: supported by the location that its source names, or an unverified claim."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

SUPPORTED: Final = "supported"
UNVERIFIED: Final = "unverified claim"

TextOf = Callable[[Mapping[str, Any]], str | None]
"""From a source to the text of its paper on the shelf; None if the shelf does not have it."""


@dataclass(frozen=True, slots=True)
class ClaimStatus:
    """Whether a location supports a value, and why."""

    status: str
    """`SUPPORTED` or `UNVERIFIED`."""
    reason: str
    """One or two sentences for a person."""
    as_written: str = ""
    """The number as the paper writes it, such as `0.692 ± 0.022`; empty if none was found."""
    unit: str = ""
    """Its unit, a name of `universe.orbits.units` or `degree`; empty for plain numbers."""
    stated: float | None = None
    """The number in that unit."""
    checked: bool = False
    """Whether the location was found in the text of the paper on a shelf."""


def status_of(
    source: Mapping[str, Any],
    field: str,
    value: float,
    *,
    body: Mapping[str, Any] | None = None,
    text_of: TextOf | None = None,
) -> ClaimStatus:
    """Return whether the location of `field` in `source` contains `value`, which is in the unit of the field.

    `body` is the body that carries the value: its name must be named by the row or passage. Does not raise, whatever
    `source` holds.
    """
    return ClaimStatus(UNVERIFIED, f"The source names no location for {field}.")
