"""REST routes for jobs: start, list, follow, read, cancel and delete them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Final, Literal
from urllib.parse import quote

import orjson
from fastapi import Path, Query
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Send

from universe.api.rest.requests import Body, Jobs, Sender, Services, make_router, parse_cursor
from universe.api.rest.responses_and_schemas import FLOATS, JSON, SVG, Id, make_request_body
from universe.domain.nbody.measurement_replies import MeasurementReply, RunComparison
from universe.service.jobs.job_service import JobService
from universe.service.jobs.job_store import NUMBERS, JobState, StoredJob
from universe.service.jobs.options_and_replies import (
    JobChart,
    JobFacts,
    JobList,
    TrajectoryPage,
    TrajectoryStates,
    make_job_schemas,
)
from uraniborg.kernel.errors import ErrorBody
from uraniborg.kernel.logging import get_logger

PAGE: Final = 50
MAX_TIMES: Final = 10_000
_EVENT_HEADERS: Final = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
_HELLO: Final = b": connected\nretry: 2000\n\n"
_HEARTBEAT: Final = b": heartbeat\n\n"

_log = get_logger(__name__)

JobId = Annotated[str, Path(max_length=200, description="The id of a job.")]
Limit = Annotated[int, Query(ge=1, le=1_000)]
Cursor = Annotated[str | None, Query(max_length=500, description="`next` of the previous page.")]
State = Annotated[JobState | None, Query(description="Only jobs in this state.")]


router = make_router()


@router.get("/jobs", summary="List the jobs of all universes")
async def list_all_jobs(jobs: Jobs, state: State = None, limit: Limit = PAGE, cursor: Cursor = None) -> JobList:
    """List the jobs of all universes, newest first."""
    return await _make_page(jobs, None, state, limit, cursor)


@router.get("/universes/{universe_id}/jobs", summary="List jobs")
async def list_jobs(
    jobs: Jobs, universe_id: Id, state: State = None, limit: Limit = PAGE, cursor: Cursor = None
) -> JobList:
    """List the jobs of a universe, newest first."""
    return await _make_page(jobs, universe_id, state, limit, cursor)


@router.post(
    "/universes/{universe_id}/jobs",
    summary="Start a job",
    status_code=202,
    openapi_extra=make_request_body(make_job_schemas()[0]),
    responses={202: {"model": JobFacts}, 422: {"model": ErrorBody}},
)
async def start_job(jobs: Jobs, universe_id: Id, given: Body, actor: Sender) -> Response:
    """Start an N-body run, transits or radial velocities of the universe, now or at a `version`."""
    job = await jobs.create(universe_id, given, actor=actor)
    location = f"/universes/{quote(universe_id, safe='')}/jobs/{job.id}"
    return Response(orjson.dumps(job.describe()), 202, {"Location": location}, JSON)


@router.get("/universes/{universe_id}/jobs/{job_id}", summary="Read a job")
async def read_job(jobs: Jobs, universe_id: Id, job_id: JobId) -> JobFacts:
    """Read the state, the progress and the summary of a job."""
    return (await jobs.get(universe_id, job_id)).describe()


@router.delete("/universes/{universe_id}/jobs/{job_id}", summary="Delete a job", status_code=204)
async def delete_job(jobs: Jobs, universe_id: Id, job_id: JobId, actor: Sender) -> Response:
    """Delete a job that has ended, with its result."""
    await jobs.delete(universe_id, job_id, actor=actor)
    return Response(status_code=204)


@router.post(
    "/universes/{universe_id}/jobs/{job_id}/cancel",
    summary="Cancel a job",
    responses={409: {"model": ErrorBody}},
)
async def cancel_job(jobs: Jobs, universe_id: Id, job_id: JobId, actor: Sender) -> JobFacts:
    """Cancel a job that has not ended."""
    return (await jobs.cancel(universe_id, job_id, actor=actor)).describe()


@router.get(
    "/universes/{universe_id}/jobs/{job_id}/events",
    summary="Stream the progress of a job",
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream_job(services: Services, universe_id: Id, job_id: JobId) -> Response:
    """Stream the job as server-sent events after each change: `job`, and `end` when it has ended."""
    await services.jobs.get(universe_id, job_id)
    frames = _iterate_frames(services.jobs, universe_id, job_id, services.heartbeat_s)
    return JobStream(frames, services.stall_s)


@router.get(
    "/universes/{universe_id}/jobs/{job_id}/result",
    summary="Read the result of a job",
    responses={200: {"model": MeasurementReply}, 409: {"model": ErrorBody}},
)
async def read_job_result(jobs: Jobs, universe_id: Id, job_id: JobId) -> Response:
    """Read the whole result, as `universe nbody --json`, `transits --json` and `rv --json` print it."""
    return Response(await jobs.read_result(universe_id, job_id), media_type=JSON)


@router.get(
    "/universes/{universe_id}/jobs/{job_id}/plot",
    summary="Draw the result of a job",
    responses={200: {"content": {SVG: {"schema": {"type": "string"}}}}, 409: {"model": ErrorBody}},
)
async def plot_job(jobs: Jobs, universe_id: Id, job_id: JobId) -> Response:
    """Return the chart of the result as SVG."""
    return Response(await jobs.read_plot(universe_id, job_id), media_type=SVG)


@router.get(
    "/universes/{universe_id}/jobs/{job_id}/series",
    summary="Read the chart of a job as numbers",
    responses={200: {"model": JobChart}, 409: {"model": ErrorBody}},
)
async def read_job_series(jobs: Jobs, universe_id: Id, job_id: JobId) -> Response:
    """Read the panels of the chart: at most some hundred points for each curve, which keep its shape."""
    return Response(await jobs.read_series(universe_id, job_id), media_type=JSON)


@router.get(
    "/universes/{universe_id}/jobs/{job_id}/trajectory",
    summary="Read the trajectory of an N-body run",
    responses={
        200: {"model": TrajectoryStates, "content": {FLOATS: {"schema": {"type": "string"}}}},
        409: {"model": ErrorBody},
    },
)
async def read_job_trajectory(
    jobs: Jobs,
    universe_id: Id,
    job_id: JobId,
    first: Annotated[int, Query(ge=0, le=10_000_000, description="The index of the first time.")] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_TIMES, description="The number of times.")] = 1_000,
    format: Annotated[  # noqa: A002 - the usual name
        Literal["json", "float32"],
        Query(description="float32: six little-endian numbers for each body, for each time."),
    ] = "json",
) -> Response:
    """Read the states of all bodies at evenly spread times, page by page, with the error of each body."""
    layout, states = await jobs.read_trajectory(universe_id, job_id, first=first, limit=limit)
    if format == "float32":
        return Response(states, media_type=FLOATS)
    return Response(await asyncio.to_thread(_encode_trajectory, layout, states), media_type=JSON)


@router.get("/universes/{universe_id}/jobs/{job_id}/comparison", summary="Compare two N-body runs")
async def compare_jobs(
    jobs: Jobs,
    universe_id: Id,
    job_id: JobId,
    other: Annotated[str, Query(alias="with", max_length=200, description="The id of the other job.")],
    other_universe: Annotated[
        str | None, Query(alias="withUniverse", max_length=1_000, description="Its universe. Default: the same.")
    ] = None,
) -> RunComparison:
    """Compare an N-body run with another one, such as that of a branch, as `universe nbody --compare` does."""
    return await jobs.compare(universe_id, job_id, other, other_universe or universe_id)


async def _make_page(
    jobs: JobService, universe_id: str | None, state: JobState | None, limit: int, cursor: str | None
) -> JobList:
    found = await jobs.list_jobs(universe_id, state=state, limit=limit + 1, before=parse_cursor(cursor))
    page = found[:limit]
    following = f"{page[-1].created_at}~{page[-1].id}" if len(found) > limit else None
    return {"jobs": [one.describe() for one in page], "next": following}


class JobStream(StreamingResponse):
    """The event stream of a job. A listener that reads nothing for `stall_s` seconds is disconnected."""

    def __init__(self, frames: AsyncIterator[bytes], stall_s: float) -> None:
        super().__init__(frames, 200, _EVENT_HEADERS, "text/event-stream")
        self._stall_s = stall_s

    async def stream_response(self, send: Send) -> None:
        async def send_before_stall(message: Message) -> None:
            async with asyncio.timeout(self._stall_s):
                await send(message)

        try:
            await super().stream_response(send_before_stall)
        except TimeoutError:
            _log.warning("listener of a job dropped", stalled_s=self._stall_s)


async def _iterate_frames(jobs: JobService, universe_id: str, job_id: str, heartbeat_s: float) -> AsyncIterator[bytes]:
    yield _HELLO
    async for job in jobs.watch(universe_id, job_id, heartbeat_s=heartbeat_s):
        yield _HEARTBEAT if job is None else _format_frame(job)


def _format_frame(job: StoredJob) -> bytes:
    name = b"job" if job.is_active else b"end"
    return b"event: %b\ndata: %b\n\n" % (name, orjson.dumps(job.describe()))


def _encode_trajectory(layout: TrajectoryPage, states: bytes) -> bytes:
    """Return the layout and the states as JSON; the numbers of a body that has merged away are null."""
    import numpy as np  # slow to load

    values = np.frombuffer(states, dtype="<f4").reshape(-1, len(layout["ids"]), NUMBERS)
    return orjson.dumps({**layout, "states": values}, option=orjson.OPT_SERIALIZE_NUMPY)
