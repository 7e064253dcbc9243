"""Encode the orbits of all bodies as one binary for viewers: a header, 64 bytes for each body, and the ids.

The layout is documented in docs/reference/universe.md. Phases are fractions of a turn in fixed point, so that a viewer
with 32-bit arithmetic finds the same positions after any number of turns.
"""

import math
import struct
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import orjson

from universe.domain.orbits.kepler import Elements
from universe.domain.orbits.orrery import Orrery
from universe.domain.orbits.uniform_ellipses import Ellipses, StraightPaths

MAGIC: Final = b"UBEL"
LAYOUT: Final = 1
HEADER: Final = struct.Struct("<4sIIIQIIddd8x")
TICKS_PER_TIME: Final = 64
ORIGIN: Final = -(2**31) / TICKS_PER_TIME
"""The time of tick 0, long before every time of interest, so that ticks are unsigned."""
RECORD: Final = np.dtype(
    [
        ("motion", "<u8"),
        ("phase", "<u4"),
        ("parent", "<i4"),
        ("p", "<f4", 3),
        ("q", "<f4", 3),
        ("one_minus_e", "<f4"),
        ("centre", "<f4", 3),
        ("flags", "<u4"),
        ("radius", "<f4"),
    ]
)
EXACT: Final = np.dtype([("index", "<u4"), ("kind", "<u4"), ("values", "<f8", 13)])
KEPLER, ON_CPU, NO_POSITION = 1, 2, 4
CONIC, LINE, FAST = 1, 2, 3
_TURN: Final = 2 * math.pi
_FASTEST: Final = 0.5
"""Bodies that turn further than this in a tick are computed exactly, by the CPU."""


@np.errstate(over="ignore", invalid="ignore")
def encode_elements(orrery: Orrery, radii: Sequence[Any], *, version: int, time: float) -> bytes:
    """Return the binary of all orbits of a universe at a version, whose time is `time`."""
    count = len(orrery.ids)
    blank = np.zeros((), RECORD)
    blank["one_minus_e"] = 1
    records = np.full(orrery.slot_count, blank)
    exact: dict[int, tuple[int, list[float]]] = {}
    for indices, motion in orrery.list_motions():
        for index in indices.tolist():
            exact.pop(index, None)  # of a motion that this one replaces
        records[indices] = blank
        if isinstance(motion, Elements):
            _add_kepler_orbits(records, exact, indices, motion)
        elif isinstance(motion, Ellipses):
            _add_ellipses(records, exact, indices, motion)
        elif isinstance(motion, StraightPaths):
            lines = np.concatenate([motion.starts, motion.velocities], axis=1)
            exact |= {int(index): (LINE, row) for index, row in zip(indices, lines.tolist(), strict=True)}
            records["flags"][indices] = ON_CPU
    records = records[orrery.order]
    index_of = {key: index for index, key in enumerate(orrery.ids)}
    nowhere = [index_of[key] for key in orrery.unplaceable]
    records[nowhere] = blank
    records["flags"][nowhere] = NO_POSITION
    records["parent"] = orrery.parents
    records["radius"] = [radius if isinstance(radius, (int, float)) else 0 for radius in radii]
    index_of_slot = {slot: index for index, slot in enumerate(orrery.order.tolist())}
    exact = {index_of_slot[slot]: values for slot, values in exact.items() if slot in index_of_slot}
    for index in nowhere:
        exact.pop(index, None)
    rows = np.zeros(len(exact), EXACT)
    for row, (index, (kind, values)) in zip(rows, sorted(exact.items()), strict=True):
        row["index"], row["kind"] = index, kind
        row["values"][: len(values)] = values
    ids = orjson.dumps(orrery.ids)
    header = HEADER.pack(
        MAGIC, LAYOUT, count, len(exact), version, len(ids), RECORD.itemsize, time, ORIGIN, 1 / TICKS_PER_TIME
    )
    return b"".join((header, records.tobytes(), rows.tobytes(), ids))


def _add_kepler_orbits(records: Any, exact: dict[int, tuple[int, list[float]]], indices: Any, motion: Elements) -> None:
    epoch = np.broadcast_to(motion.epoch, indices.shape)
    at_origin = motion.turns_at_epoch + (ORIGIN - epoch) * motion.turns_per_time
    _set_phases(records, indices, motion.turns_per_time, at_origin)
    records["p"][indices] = motion.to_periapsis.T
    records["q"][indices] = motion.to_side.T
    records["one_minus_e"][indices] = 1 - motion.eccentricity
    records["centre"][indices] = 0
    records["flags"][indices] = KEPLER
    fast = motion.turns_per_time / TICKS_PER_TIME > _FASTEST
    for at in np.flatnonzero(fast).tolist():
        at_zero = motion.turns_at_epoch[at] - epoch[at] * motion.turns_per_time[at]
        shape = [*motion.to_periapsis[:, at], *motion.to_side[:, at], 0.0, 0.0, 0.0, motion.eccentricity[at]]
        exact[int(indices[at])] = (FAST, [motion.turns_per_time[at], at_zero, *shape])
    records["flags"][indices[fast]] |= ON_CPU
    open_orbits = motion.near_parabolic
    conics = open_orbits.conics
    for at, place in enumerate(open_orbits.indices.tolist()):
        is_closed = open_orbits.eccentricity[at] < 1
        passage = open_orbits.since[at] - open_orbits.turns[at] * open_orbits.days[at]
        period = open_orbits.days[at] if is_closed else 0.0
        sizes = [conics.q[at], conics.e[at], conics.root_mu[at], passage, period]
        exact[int(indices[place])] = (CONIC, [*sizes, *conics.to_periapsis[:, at], *conics.to_side[:, at]])
    records["flags"][indices[open_orbits.indices]] = KEPLER | ON_CPU


def _add_ellipses(records: Any, exact: dict[int, tuple[int, list[float]]], indices: Any, motion: Ellipses) -> None:
    turns = motion.speeds / 360
    at_zero = motion.phases / _TURN
    _set_phases(records, indices, turns, at_zero + ORIGIN * turns)
    records["p"][indices] = motion.first.T
    records["q"][indices] = motion.second.T
    records["one_minus_e"][indices] = 1
    records["centre"][indices] = motion.centres.T
    records["flags"][indices] = 0
    fast = np.abs(turns) / TICKS_PER_TIME > _FASTEST
    for at in np.flatnonzero(fast).tolist():
        shape = [*motion.first[:, at], *motion.second[:, at], *motion.centres[:, at], 0.0]
        exact[int(indices[at])] = (FAST, [turns[at], at_zero[at], *shape])
    records["flags"][indices[fast]] = ON_CPU


def _set_phases(records: Any, indices: Any, turns_per_time: Any, turns_at_origin: Any) -> None:
    records["motion"][indices] = _to_fraction(turns_per_time / TICKS_PER_TIME, 64)
    records["phase"][indices] = _to_fraction(turns_at_origin, 32)


def _to_fraction(turns: Any, bits: int) -> Any:
    """Return the fractions of turns as unsigned integers of 32 or 64 bits; 0 for numbers that are not finite."""
    parts = np.nan_to_num(np.mod(turns, 1.0), nan=0.0) * 2.0**32
    high = np.floor(parts)
    low = np.minimum(np.floor((parts - high) * 2.0**32), 2.0**32 - 1)
    if bits == 32:
        return np.rint(parts).astype(np.uint64).astype(np.uint32)
    return (np.minimum(high, 2.0**32 - 1).astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
