"""Route that counts what runs now, in all processes."""

import asyncio
import json
from typing import TYPE_CHECKING, Final

from uraniborg.console.replies import ApiReply
from uraniborg.console.routes.dependencies import make_router
from uraniborg.console.services import Services

if TYPE_CHECKING:
    from uraniborg.console.services import ConsoleServices

_MOST: Final = 1_000


class RunningCounts(ApiReply):
    """How many searches, runs and jobs of universes work now, at most 1,000 runs and jobs.

    `jobs` is null if the server of universes does not run.
    """

    searches: int
    runs: int
    jobs: int | None


router = make_router("inbox")


@router.get("/api/running", summary="Count what runs")
async def count_running(services: Services) -> RunningCounts:
    """Return how many searches, runs and jobs work at this moment, whichever process runs them."""
    app = services.universe.app
    return RunningCounts(
        searches=await _count_searches(services),
        runs=len(await asyncio.to_thread(services.workflows.history.list_runs, limit=_MOST, status="running")),
        jobs=len(await app.jobs.list_jobs(state="running", limit=_MOST)) if app and app.is_running else None,
    )


async def _count_searches(services: "ConsoleServices") -> int:
    page = await services.searches.request("GET", "/api/searches", query=b"phase=working&limit=1")
    return json.loads(page.body)["total"]
