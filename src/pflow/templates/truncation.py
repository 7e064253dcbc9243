"""Outputs of which only the beginning was kept: it must not pass for all of it."""

from pathlib import PurePath
from typing import Any, Final, cast

from pflow.errors import NodeFailed
from pflow.templates.syntax import Reference, way_of

_SPOOL: Final = "spool"
_RESULTS: Final = "results"
_PREVIEW: Final = 2_000


class CutShort(NodeFailed):
    """`told` is what can be said of it where nobody goes on with it."""

    told: dict[str, Any]


def check_whole(value: Any, place: Any, reference: Reference, depth: int) -> None:
    """Raises NodeFailed if `place`, to which step number `depth` of a reference leads, is a beginning of more.

    Only what a node gives by itself is, or what it gives for an item of a batch: deeper down are data, whatever
    their keys are.
    """
    if not isinstance(value, dict) or not isinstance(place, str) or not _is_own(reference, depth):
        return
    outputs = cast("dict[str, Any]", value)
    size, file = outputs.get(f"{place}_size"), outputs.get(f"{place}_file")
    if type(size) is not int or not isinstance(file, str) or not _is_spooled(file, place):
        return
    whole = f"${{{way_of(reference, depth)}.{place}_file}}"
    cut = CutShort(
        f"`${{{reference.text}}}` is {size:,} bytes long, and only its beginning was kept.",
        hint=f"All of it is in the file `{whole}`: read it there, for example with `< {whole}` in a command.",
    )
    cut.told = {"truncated": True, "bytes": size, "preview": str(outputs.get(place))[:_PREVIEW], "file": file}
    raise cut


def _is_own(reference: Reference, depth: int) -> bool:
    return depth == 0 or (depth == 2 and reference.steps[0] == _RESULTS)  # ${node.results[0].stdout}


def _is_spooled(file: str, place: str) -> bool:
    """Whether it lies where long outputs are put: `spool/RUN/stdout-…`."""
    path = PurePath(file)
    return path.name.startswith(f"{place}-") and path.parent.parent.name == _SPOOL
