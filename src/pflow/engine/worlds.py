"""The world as a node finds it: a digest of all that the nodes before it did to files, servers and the like.

What is passed on in templates is in a node's parameters. What is not, such as a file that one node writes and another
reads, is seen by types that say `reads_world`: the digest is part of what their results follow from. It changes when

- a node before it that is not pure runs, and did not before (`ran` is the run in which it did);
- a node before it that is not pure fails in another way than before, and an `error` edge is followed.

Pure nodes, and those that were not begun, leave it as it is.
"""

from collections.abc import Iterable

from pflow.engine.values import fingerprint

UNTOUCHED = ""


def joined(worlds: Iterable[str]) -> str:
    """The world where several ways meet."""
    different = sorted({*worlds} - {UNTOUCHED})
    return different[0] if len(different) == 1 else fingerprint(different) if different else UNTOUCHED


def after(world: str, node: str, ran: str) -> str:
    """The world after a node; `ran` is the run in which it had its effect, and nothing if it has none."""
    return fingerprint(world, node, ran) if ran else world
