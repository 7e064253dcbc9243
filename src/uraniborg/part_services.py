"""Open the services of the parts on the data folder, for as long as a command needs them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from paper_search.service.sessions import SessionManager
from universe.config import load_config
from universe.service.jobs.job_service import JobService
from universe.service.universes import UniverseService
from universe.store.factory import make_store


@asynccontextmanager
async def open_sessions() -> AsyncGenerator[SessionManager]:
    """Yield the sessions of the data folder."""
    manager = SessionManager()
    try:
        yield manager
    finally:
        await manager.aclose()


@asynccontextmanager
async def open_universes() -> AsyncGenerator[UniverseService]:
    """Yield the universes of the data folder."""
    config = await asyncio.to_thread(load_config)
    async with UniverseService(make_store(config.database_address)).running() as service:
        yield service


@asynccontextmanager
async def open_jobs() -> AsyncGenerator[JobService]:
    """Yield the jobs of the data folder."""
    async with open_universes() as service, JobService(service).running() as jobs:
        yield jobs
