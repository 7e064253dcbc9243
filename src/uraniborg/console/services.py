"""The services behind the console: the same objects that the tools and commands of the parts use."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paper_search.mcp_server import get_session_manager
from paper_search.sessions import SessionManager
from pflow.config import load_settings
from pflow.service import Service
from uraniborg.console.event_stream import EventBroadcast
from uraniborg.console.run_workers import RunWorkers
from uraniborg.console.sign_in import SignIns
from uraniborg.console.source_progress import SourceProgressLog
from uraniborg.kernel.change_feed import Change
from uraniborg.kernel.inbox import Inbox
from uraniborg.kernel.person import get_user_name
from uraniborg.search_shelves import ShelfBuilds

if TYPE_CHECKING:
    from uraniborg.served_parts import ServedPart


@dataclass
class ConsoleServices:
    """The services of one process."""

    inbox: Inbox
    sessions: SessionManager
    workflows: Service
    broadcast: EventBroadcast
    sign_ins: SignIns
    runs: RunWorkers
    source_progress: SourceProgressLog
    shelf_builds: ShelfBuilds
    owner: str
    """The name of the account, for programs that call with the token."""
    parts: "list[ServedPart]" = field(default_factory=list["ServedPart"])

    async def resume_decided_run(self, change: Change) -> None:
        """Resume the run that waited for this change of the inbox, if this process has started it."""
        if change.kind == "inbox" and change.facts.get("state") == "decided" and change.facts.get("part") == "pflow":
            await self.runs.resume_decided(await asyncio.to_thread(self.inbox.get, change.subject))


@asynccontextmanager
async def open_console_services() -> AsyncGenerator[ConsoleServices]:
    """Open the services of the data folder, and close them when the block ends. Raise OSError or Locked."""
    broadcast = EventBroadcast()
    await broadcast.start()
    manager = await get_session_manager()
    inbox = await asyncio.to_thread(Inbox)
    services = ConsoleServices(
        inbox=inbox,
        sessions=manager,
        workflows=Service(await asyncio.to_thread(load_settings)),
        broadcast=broadcast,
        sign_ins=await asyncio.to_thread(SignIns),
        runs=RunWorkers(inbox),
        source_progress=SourceProgressLog(),
        shelf_builds=ShelfBuilds(),
        owner=get_user_name(),
    )
    broadcast.add_listener(services.resume_decided_run)
    broadcast.add_listener(services.source_progress.record_change)
    reading = asyncio.create_task(broadcast.run())
    try:
        yield services
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await services.runs.stop()
        await services.shelf_builds.stop()
        await manager.aclose()
        await asyncio.to_thread(services.inbox.close)
