"""Sentences about the citations that a change withdrew and the values that it recomputed."""

from collections.abc import Iterator
from typing import Final

from universe.domain.citations import cited_fields, records_of, sources_of
from universe.domain.entities import Entity
from universe.domain.state import State, Touched

_MOST_BODIES: Final = 5
_SHOWN: Final = 60
_MOST_FIELDS: Final = 6


def withdrawals_of(before: State, after: State, touched: Touched) -> list[str]:
    """Return what a change did to citations, in a few sentences; nothing if it left them all. Does not raise."""
    sentences: list[str] = []
    followers: dict[str, dict[str, None]] = {}
    bodies = 0
    for key in touched.get("stars") or ():
        old, new = before.stars.get(key), after.stars.get(key)
        if old is None or new is None or old is new:
            continue
        fresh = _fresh_records(old, new)
        if (
            fresh
            and all("basis" in record or "withdrawn" in record for record in fresh.values())
            and not _moved(old, new)
        ):
            followers[key] = dict.fromkeys(fresh)
        elif told := list(_sentences(key, old, new, fresh)):
            bodies += 1
            sentences += told if bodies <= _MOST_BODIES else []
    if bodies > _MOST_BODIES:
        sentences.append(f"Citations of {bodies - _MOST_BODIES:,} more bodies changed likewise.")
    if followers:
        fields = _listed(list(dict.fromkeys(field for named in followers.values() for field in named)))
        sentences.append(f"{_named(list(followers))}: {fields} followed from what changed and have no source now.")
    return sentences


def _fresh_records(old: Entity, new: Entity) -> dict[str, Entity]:
    before = records_of(old)
    return {field: record for field, record in records_of(new).items() if record != before.get(field)}


def _sentences(key: str, old: Entity, new: Entity, fresh: dict[str, Entity]) -> Iterator[str]:
    cited_now = cited_fields(sources_of(new))
    name = f"'{key[:_SHOWN]}'"
    for source in sources_of(old):
        lost = [field for field in cited_fields([source]) if source["id"] not in cited_now.get(field, ())]
        uncited = {field: fresh[field] for field in lost if field in fresh and "sources" not in fresh[field]}
        if given := [field for field, record in uncited.items() if not record.keys() & {"basis", "withdrawn"}]:
            yield f"{name}: {_listed(given)} {_uncited(given, source)}, which gave another value."
        if stale := [field for field, record in uncited.items() if "withdrawn" in record]:
            cause = uncited[stale[0]]["withdrawn"]
            yield f"{name}: {_listed(stale)} {_uncited(stale, source)}, because {cause} changed."
    if computed := [_computed(field, record["basis"]) for field, record in fresh.items() if "basis" in record]:
        yield f"{name}: recomputed {_listed(computed)}."
    if old.get("stateVector") is not None and new.get("stateVector") is None:
        yield f"{name}: stateVector was removed, because it belongs to the orbit before."


def _uncited(fields: list[str], source: Entity) -> str:
    return f"no longer {'cites' if len(fields) == 1 else 'cite'} '{source['id'][:_SHOWN]}'"


def _computed(field: str, basis: str) -> str:
    masses = " and the masses" if field in ("kepler.semiMajorAxis", "kepler.period") else ""
    return f"{field} from {basis}{masses}"


def _moved(old: Entity, new: Entity) -> bool:
    return old.get("parentId") != new.get("parentId") or old.get("stateVector") != new.get("stateVector")


def _named(keys: list[str]) -> str:
    more = f" and {len(keys) - _MOST_BODIES:,} more" if len(keys) > _MOST_BODIES else ""
    return ", ".join(f"'{key[:_SHOWN]}'" for key in keys[:_MOST_BODIES]) + more


def _listed(fields: list[str]) -> str:
    more = f" and {len(fields) - _MOST_FIELDS:,} more" if len(fields) > _MOST_FIELDS else ""
    return ", ".join(field[: 2 * _SHOWN] for field in fields[:_MOST_FIELDS]) + more
