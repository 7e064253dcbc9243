"""The services behind the console: the same objects that the tools and commands of the parts use."""

import asyncio
import getpass
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paper_search.mcp_server import get_session_manager
from paper_search.sessions import SessionManager
from pflow.config import load_settings
from pflow.service import Service
from uraniborg.console.event_stream import EventBroadcast
from uraniborg.console.sign_in import SignIns
from uraniborg.kernel.inbox import Inbox

if TYPE_CHECKING:
    from uraniborg.serve import ServedPart


@dataclass
class ConsoleServices:
    """The services of one process."""

    inbox: Inbox
    sessions: SessionManager
    workflows: Service
    broadcast: EventBroadcast
    sign_ins: SignIns
    owner: str
    """The name of the account, for programs that call with the token."""
    parts: "list[ServedPart]" = field(default_factory=list["ServedPart"])


@asynccontextmanager
async def open_console_services() -> AsyncGenerator[ConsoleServices]:
    """Open the services of the data folder, and close them when the block ends. Raise OSError or Locked."""
    broadcast = EventBroadcast()
    await broadcast.start()
    manager = await get_session_manager()
    services = ConsoleServices(
        inbox=await asyncio.to_thread(Inbox),
        sessions=manager,
        workflows=Service(await asyncio.to_thread(load_settings)),
        broadcast=broadcast,
        sign_ins=await asyncio.to_thread(SignIns),
        owner=getpass.getuser(),
    )
    reading = asyncio.create_task(broadcast.run())
    try:
        yield services
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await manager.aclose()
        await asyncio.to_thread(services.inbox.close)
