"""The route of the counts of what runs now, in all processes."""

import asyncio
import json
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI

from uraniborg.console.replies import RunningCounts

if TYPE_CHECKING:
    from uraniborg.console.services import ConsoleServices

_MOST: Final = 1_000


def add_running_routes(api: FastAPI, services: "ConsoleServices") -> None:
    """Add the route."""

    @api.get("/api/running", tags=["inbox"], summary="Count what runs")
    async def count_running() -> RunningCounts:  # pyright: ignore[reportUnusedFunction]
        """Return how many searches, runs and jobs work at this moment, whichever process runs them."""
        app = services.universe.app
        runs = await asyncio.to_thread(services.workflows.history.list_runs, limit=_MOST, status="running")
        return {
            "searches": await _count_searches(services),
            "runs": len(runs),
            "jobs": len(await app.jobs.list_jobs(state="running", limit=_MOST)) if app and app.is_running else None,
        }


async def _count_searches(services: "ConsoleServices") -> int:
    page = await services.searches.request("GET", "/api/searches", query=b"phase=working&limit=1")
    return json.loads(page.body)["total"]
