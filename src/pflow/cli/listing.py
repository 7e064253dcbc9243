"""Which workflows a person can name here: saved ones, drafts, and those of the project's own folder."""

from collections.abc import Iterable
from typing import Any

from pflow.library.finding import draft_places
from pflow.library.listing import Summary, list_workflows, matching
from pflow.service import Service


def listed(service: Service, pattern: str | None) -> dict[str, Any]:
    """`library` as the tool `list_library` has it; `drafts` alike, with their paths; `problems` are other files."""
    listing = list_workflows(service.home)
    local = [
        one for place in draft_places(service.home, service.folder) if place.is_read_only for one in place.list_all()
    ]
    drafts = [one for one in listing.workflows if one.source == "draft"]
    counts = service.counts()
    return {
        "library": service.list_library(pattern),
        "drafts": [_plain(one, counts) for one in matching([*drafts, *_unseen(local, drafts)], pattern)],
        "problems": [{"path": one.path, "problem": one.message} for one in listing.problems],
    }


def _unseen(local: Iterable[Summary], others: Iterable[Summary]) -> list[Summary]:
    """A draft of the home hides one of the project that has its name."""
    taken = {one.name for one in others}
    return [one for one in local if one.name not in taken]


def _plain(one: Summary, counts: dict[str, int]) -> dict[str, Any]:
    return {
        "name": one.name,
        "description": one.description,
        "inputs": list(one.inputs),
        "updated_at": one.updated_at,
        "execution_count": counts.get(one.name, 0),
        "path": one.path,
    }
