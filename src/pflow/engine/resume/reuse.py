"""Rules of reuse: the fingerprint of a step, the effects digest, when an earlier result can be reused, and why not.

The effects digest of a node stands for all that the nodes before it did to files, servers and the like. Values passed
on in templates are in a node's parameters. Anything else, such as a file that one node writes and another reads, is
covered by types that declare `reads_world`: the digest is part of the fingerprint of their results. It changes when

- a node before it that is not pure runs and did not run before (its effect run id is the id of this run);
- a node before it that is not pure fails in another way than before and an `error` edge is followed.

Pure nodes and nodes that were not started leave the digest as it is.
"""

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, cast

from pflow.engine.json_values import compute_fingerprint
from pflow.ir.model import Node
from pflow.node import Context
from pflow.registry.interface import Interface

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json

NO_EFFECTS: Final = ""
_SEPARATOR: Final = "-"
"""Stands between the fingerprint of a step and its effects digest."""


def join_effects_digests(digests: Iterable[str | None]) -> str | None:
    """Return the effects digest where several branches meet; None if one of theirs is not known."""
    different = {*digests}
    if None in different:
        return None
    known = sorted(cast("set[str]", different) - {NO_EFFECTS})
    return known[0] if len(known) == 1 else compute_fingerprint(known) if known else NO_EFFECTS


def extend_effects_digest(digest: str, node: str, effect_run_id: str) -> str:
    """Return the effects digest after a node; an empty `effect_run_id` stands for a node without effects."""
    return compute_fingerprint(digest, node, effect_run_id) if effect_run_id else digest


def can_reuse_result(
    node: Node, interface: Interface, params: "Mapping[str, Json]", context: Context, removed_files: frozenset[str]
) -> bool:
    """Return False if the node reads data that changes by itself, or if a file that it wrote is missing.

    Files that a later node removed do not count as missing.
    """
    if not node.reuse or interface.is_volatile_with(params):
        return False
    written = resolve_param_paths(interface.writes, params, context)
    return all(os.path.exists(one) or one in removed_files for one in written)


def resolve_param_paths(
    param_names: tuple[str, ...], params: "Mapping[str, Json]", context: Context
) -> tuple[str, ...]:
    """Return the paths of the files that these parameters name."""
    return tuple(str(context.path(str(params[name]))) for name in param_names if params.get(name) is not None)


def compute_step_fingerprint(
    interface: Interface, params: "Mapping[str, Json]", context: Context, effects_digest: str = ""
) -> str:
    """Return the fingerprint of a result: of the node type, its version, its parameters and the files that it reads.

    The effects digest comes last, so that `differs_only_in_effects` can ignore it.
    """
    uses_folder = interface.reads_world or interface.effect != "pure" or interface.reads
    folder = str(context.folder) if uses_folder else ""
    if interface.limits:
        params = {key: value for key, value in params.items() if key not in interface.limits}
    own = compute_fingerprint(
        interface.type, interface.version, params, _read_file_stamps(interface, params, context), folder
    )
    return f"{own}{_SEPARATOR}{effects_digest}" if interface.reads_world else own


def _read_file_stamps(
    interface: Interface, params: "Mapping[str, Json]", context: Context
) -> list[tuple[int, int, int] | None]:
    """Return size, time of change and inode of each file that the node reads."""
    stamps: list[tuple[int, int, int] | None] = []
    for key in interface.reads:
        given = params.get(key)
        for path in given if isinstance(given, list) else [given]:
            try:
                status = context.path(str(path)).stat()
            except (OSError, ValueError):
                stamps.append(None)
            else:
                stamps.append((status.st_size, status.st_mtime_ns, status.st_ino))
    return stamps


def differs_only_in_effects(step_fingerprint: str, others: Iterable[str]) -> bool:
    """Return True if one of the other fingerprints is the same but for the effects digest."""
    own = step_fingerprint.partition(_SEPARATOR)[0]
    return any(one.partition(_SEPARATOR)[0] == own for one in others)
