"""MCP resources of jobs: the jobs of a universe, and one job with its result."""

from typing import Final

import orjson

from universe.jobs.replies import JobsOfUniverse, JobWithResult
from universe.jobs.service import JobService
from uraniborg.kernel.json_values import Json, JsonObject
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
    async def universe_jobs(universe_id: str) -> JobsOfUniverse:
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
    async def universe_job(universe_id: str, job_id: str) -> JobWithResult:
        """Read a job with its result; long lists are cut, and `shortened` names them."""
        job = await jobs.get(universe_id, job_id)
        if job.state != "done":
            return {**job.describe()}
        shortened: dict[str, int] = {}
        result: JsonObject = orjson.loads(await jobs.read_result(universe_id, job_id))
        cut = {name: _shorten_lists(value, f"result.{name}", shortened) for name, value in result.items()}
        reply: JobWithResult = {**job.describe(), "result": cut}
        if shortened:
            reply["shortened"] = shortened
        return reply


def _shorten_lists(value: Json, path: str, shortened: dict[str, int]) -> Json:
    """Return a JSON value whose lists have at most _MOST_ITEMS items, and note the full length of each cut list."""
    if isinstance(value, dict):
        return {name: _shorten_lists(one, f"{path}.{name}", shortened) for name, one in value.items()}
    if isinstance(value, list):
        if len(value) > _MOST_ITEMS:
            shortened[path] = len(value)
        return [_shorten_lists(one, path, shortened) for one in value[:_MOST_ITEMS]]
    return value
