"""Make universes of imported systems: one with all systems, or one for each."""

import asyncio
from collections.abc import Sequence
from typing import Any

from universe.exchange.importer import ImportOptions, import_systems
from universe.exchange.replies import ImportReply
from universe.replies import NewUniverse
from universe.service.replies import describe_record
from universe.service.universes import UniverseService
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InvalidInput

_NAME_CHARS = 200


async def create_imported_universes(
    service: UniverseService,
    contents: Sequence[bytes],
    options: ImportOptions,
    *,
    each: bool = False,
    name: Any = None,
    universe_id: Any = None,
    actor: Actor | None = None,
    dry_run: bool = False,
) -> ImportReply:
    """Create one universe with all systems of the contents, or with `each` one for every system. Return the report.

    With `dry_run`, create nothing. Raise ImportRefused, or InvalidInput for an id or a name of several universes.
    """
    report = await asyncio.to_thread(import_systems, contents, options)
    several = each and len(report.systems) > 1
    if several and (universe_id is not None or name is not None):
        raise InvalidInput(
            f"{len(report.systems)} universes cannot have one id or name.",
            hint="Leave id and name out, or import all systems into one universe.",
            argument="id" if universe_id is not None else "name",
        )
    if not several and len(report.systems) > 1:
        report.note(
            f"The {len(report.systems):,} systems are in one universe at the same place: their distances from each "
            "other are not part of it. Choose bodies of one system for N-body runs, transits and velocities."
        )
    created: list[NewUniverse] = []
    if not dry_run:
        states = (
            [(one.name, one.state) for one in report.systems]
            if several
            else [(_choose_name([one.name for one in report.systems]), await asyncio.to_thread(report.merge_systems))]
        )
        for title, state in states:
            record = await service.create(
                name or title[:_NAME_CHARS], state, universe_id=universe_id, actor=actor, has_own_records=True
            )
            created.append({**describe_record(record), "bodies": len(state["stars"])})
    return {"universes": created, "import": report.describe()}


def _choose_name(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more systems"
