"""MCP resources of jobs: the jobs of a universe, and one job with its result."""

from typing import Any, Final, cast

import orjson

from universe.jobs.service import JobService
from uraniborg.kernel.mcp import Origin, Server, resource

FOREIGN: Final[tuple[Origin, ...]] = ("papers", "tables")
"""The origins of names and passages in universes: papers that claims cite, and imported tables."""

_MOST_JOBS: Final = 50
_MOST_ITEMS: Final = 200
"""The longest list in a result; REST has the whole."""


def add_job_resources(server: Server, jobs: JobService) -> None:
    """Add the resources of jobs."""

    @resource(
        server,
        "universe://universes/{universe_id}/jobs",
        title="Jobs of a universe",
        mime_type="application/json",
        foreign=FOREIGN,
    )
    async def universe_jobs(universe_id: str) -> dict[str, Any]:
        """List the last N-body runs, transits and radial velocities of a universe, with state, error and verdict."""
        found = await jobs.list_jobs(universe_id, limit=_MOST_JOBS)
        return {"jobs": [job.describe() for job in found]}

    @resource(
        server,
        "universe://universes/{universe_id}/jobs/{job_id}",
        title="A job and its result",
        mime_type="application/json",
        foreign=FOREIGN,
    )
    async def universe_job(universe_id: str, job_id: str) -> dict[str, Any]:
        """Read a job with its result; long lists are cut, and `shortened` names them."""
        job = await jobs.get(universe_id, job_id)
        if job.state != "done":
            return job.describe()
        shortened: dict[str, int] = {}
        result = _shorten_lists(orjson.loads(await jobs.read_result(universe_id, job_id)), "result", shortened)
        return {**job.describe(), "result": result, **({"shortened": shortened} if shortened else {})}


def _shorten_lists(value: Any, path: str, shortened: dict[str, int]) -> Any:
    """Return a JSON value whose lists have at most _MOST_ITEMS items, and note the full length of each cut list."""
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {name: _shorten_lists(one, f"{path}.{name}", shortened) for name, one in fields.items()}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if len(items) > _MOST_ITEMS:
            shortened[path] = len(items)
        return [_shorten_lists(one, path, shortened) for one in items[:_MOST_ITEMS]]
    return value
