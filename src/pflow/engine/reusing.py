"""What a result follows from, and whether an earlier one can stand for it."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from pflow.engine.values import fingerprint
from pflow.ir.model import Node
from pflow.node import Context
from pflow.registry.interface import Interface

_WORLD: Final = "-"


def may_be_reused(
    node: Node, interface: Interface, params: Mapping[str, Any], context: Context, took: frozenset[str]
) -> bool:
    """Whether an earlier result can stand for it: not if it looks at what changes by itself, nor if what it wrote is
    gone, unless a node after it took that away."""
    if not node.reuse or interface.is_volatile_with(params):
        return False
    written = paths_of(interface.writes, params, context)
    return all(os.path.exists(one) or one in took for one in written)


def paths_of(keys: tuple[str, ...], params: Mapping[str, Any], context: Context) -> tuple[str, ...]:
    """The files that these parameters name."""
    return tuple(str(context.path(str(params[key]))) for key in keys if params.get(key) is not None)


def fingerprint_of(interface: Interface, params: Mapping[str, Any], context: Context, world: str = "") -> str:
    """What a result follows from: the type of the node, its version, its parameters and what it reads. Of what reads
    the world, the world comes last, so that it can be told whether anything else changed."""
    is_placed = interface.reads_world or interface.effect != "pure" or interface.reads
    place = str(context.folder) if is_placed else ""
    if interface.limits:
        params = {key: value for key, value in params.items() if key not in interface.limits}
    own = fingerprint(interface.type, interface.version, params, _stamps(interface, params, context), place)
    return f"{own}{_WORLD}{world}" if interface.reads_world else own


def _stamps(interface: Interface, params: Mapping[str, Any], context: Context) -> list[Any]:
    """What is known of the files that it reads: when these change, so does what it gives."""
    stamps: list[Any] = []
    for key in interface.reads:
        given: Any = params.get(key)
        for path in cast("list[Any]", given) if isinstance(given, list) else [given]:
            try:
                status = context.path(str(path)).stat()
            except (OSError, ValueError):
                stamps.append(None)
            else:
                stamps.append([status.st_size, status.st_mtime_ns, status.st_ino])
    return stamps


def differs_in_world_alone(print_: str, others: Iterable[str]) -> bool:
    """Whether one of the other fingerprints is of the same, but for what was done to the world before."""
    own = print_.partition(_WORLD)[0]
    return any(one.partition(_WORLD)[0] == own for one in others)
