"""Refuse templates that would use a truncated output as if it were complete."""

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.errors import NodeFailed
from pflow.templates.syntax import Reference, format_reference_prefix

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject

_SPOOL: Final = "spool"
_RESULTS: Final = "results"
_PREVIEW: Final = 2_000


class TruncatedOutput(NodeFailed):
    """A reference to a truncated output. `summary` describes it where the value is only displayed."""

    summary: "JsonObject"


def raise_if_truncated(value: Any, key: Any, reference: Reference, depth: int) -> None:
    """Raise TruncatedOutput if step number `depth` of a reference leads to a truncated output.

    Only direct outputs of a node, or of a batch item, can be truncated; deeper values are data.
    """
    if not isinstance(value, dict) or not isinstance(key, str) or not _is_direct_output(reference, depth):
        return
    outputs = cast("JsonObject", value)
    size, file = outputs.get(f"{key}_size"), outputs.get(f"{key}_file")
    if type(size) is not int or not isinstance(file, str) or not _is_spooled(file, key):
        return
    whole = f"${{{format_reference_prefix(reference, depth)}.{key}_file}}"
    cut = TruncatedOutput(
        f"`${{{reference.text}}}` is {size:,} bytes long, and only its start is available.",
        hint=f"The file `{whole}` has all of it: read it, for example with `< {whole}` in a command.",
    )
    cut.summary = {"truncated": True, "bytes": size, "preview": str(outputs.get(key))[:_PREVIEW], "file": file}
    raise cut


def _is_direct_output(reference: Reference, depth: int) -> bool:
    return depth == 0 or (depth == 2 and reference.steps[0] == _RESULTS)  # ${node.results[0].stdout}


def _is_spooled(file: str, key: str) -> bool:
    """Return True for the path of a long output: `spool/RUN/stdout-…`."""
    path = PurePath(file)
    return path.name.startswith(f"{key}-") and path.parent.parent.name == _SPOOL
