"""Assemble the server in one ASGI app: REST, event streams, `/mcp`, pages and `/health`."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.types import ASGIApp

from universe.api.event_stream import EventStreams
from universe.api.html_pages import make_page_routes
from universe.api.rest import make_rest_app
from universe.config import UniverseConfig
from universe.mcp_server import make_mcp_server
from universe.service.jobs.job_service import JobService
from universe.service.state_views import BodyPositions
from universe.service.universes import UniverseService
from universe.store.factory import make_store
from universe.store.interface import Store
from uraniborg.kernel.http.secure_app import StoppableApp, list_origins, secure_app
from uraniborg.kernel.mcp import make_stateful_app

HEALTH: Final = "/health"
PAGES: Final = frozenset(("/", "/docs"))


class UniverseApp(StoppableApp):
    """The app of the server, its REST interface without the checks of requests, and its services."""

    def __init__(
        self, app: ASGIApp, stop: Callable[[], None], rest: FastAPI, service: UniverseService, jobs: JobService
    ) -> None:
        super().__init__(app, stop)
        self.rest = rest
        self.service = service
        self.jobs = jobs
        self.is_running = False
        """Whether the store is open."""


def make_app(config: UniverseConfig, store: Store | None = None) -> UniverseApp:
    """Return the app for `config`. Its lifespan opens the store and closes it."""
    service = UniverseService(store or make_store(config.database_address), snapshot_every=config.snapshot_every)
    streams = EventStreams(service, heartbeat_s=config.heartbeat_s, stall_s=config.stall_s)
    jobs = JobService(service, max_running=config.max_jobs, max_ended=config.max_ended_jobs)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        async with service.running(), jobs.running():
            heartbeats = asyncio.create_task(streams.send_heartbeats_and_end_stalled())
            served.is_running = True
            yield
            served.is_running = False
            heartbeats.cancel()

    api = make_rest_app(
        service,
        streams,
        BodyPositions(),
        jobs,
        body_limit=config.body_limit,
        heartbeat_s=config.heartbeat_s,
        stall_s=config.stall_s,
    )
    api.router.routes.extend(make_page_routes(service, api))
    app = make_stateful_app(
        make_mcp_server(service, jobs),
        origins=list_origins(config),
        body_limit=config.body_limit,
        idle_seconds=config.session_idle_s,
        max_sessions=config.max_sessions,
        heartbeat_s=config.heartbeat_s,
        routes=[Mount("/", api)],
        lifespan=lifespan,
    )
    secured = secure_app(app, config, is_page=PAGES.__contains__, open_paths=(HEALTH,))

    def end_streams() -> None:
        streams.close()
        jobs.close_streams()
        app.state.end_streams()

    served = UniverseApp(secured, end_streams, api, service, jobs)
    return served
