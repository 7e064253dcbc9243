"""Give the console the same objects that the tools and commands of the parts use."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Depends, Request

from pflow.config import load_settings
from pflow.service.operations import Service
from pflow.store.workflow_listing import FileChanges
from uraniborg.console.config import read_config
from uraniborg.console.event_broadcast import EventBroadcast, announce_installation_changes
from uraniborg.console.sign_ins import SignIns
from uraniborg.console.universe_mount import UniverseMount
from uraniborg.console.workers.run_workers import RunWorkers
from uraniborg.console.workers.search_process import SearchWorkerProcess
from uraniborg.console.workers.story_runner import StoryRunner
from uraniborg.kernel.actors import get_user_name
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.store.change_feed import Change, ChangeFeed
from uraniborg.kernel.store.inbox import Inbox
from uraniborg.kernel.store.tool_call_log import create_call_log
from uraniborg.story.folder import find_story_home
from uraniborg.story.service import Story

_STORY_IDLE_S: Final = 120.0
"""A person who reads a step and runs the next one within this time does not wait for a new process."""
_WORKFLOW_FILES_S: Final = 1.0
"""The time between two looks at the files of workflows."""

_log = get_logger(__name__)

if TYPE_CHECKING:
    from uraniborg.servers.process import PartServer


@dataclass
class ConsoleServices:
    """The services of one process."""

    inbox: Inbox
    searches: SearchWorkerProcess
    workflows: Service
    broadcast: EventBroadcast
    sign_ins: SignIns
    runs: RunWorkers
    story: StoryRunner
    owner: str
    """The name of the account, for programs that call with the token."""
    universe: UniverseMount = field(default_factory=UniverseMount)
    parts: "list[PartServer]" = field(default_factory=list["PartServer"])
    _tasks: "set[asyncio.Task[None]]" = field(default_factory=set)

    async def resume_decided_run(self, change: Change) -> None:
        """Resume the run that waited for a decision, in a task, so that other changes are announced meanwhile."""
        facts = change.facts
        if change.kind == "inbox" and (facts.get("state"), facts.get("part")) == ("decided", "pflow"):
            task = asyncio.create_task(self._resume_run(change.subject))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def stop_resuming(self) -> None:
        """Cancel the tasks that resume something. A run that has not begun is resumed by the next server."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _resume_run(self, approval_id: str) -> None:
        try:
            await self.runs.resume_decided(approval_id)
        except Exception as exc:
            _log.exception("a decision cannot be carried out", exc=exc, decision_id=approval_id)


async def get_services(request: Request) -> ConsoleServices:
    """Return the services of the API that answers the request."""
    return request.app.state.services


Services = Annotated[ConsoleServices, Depends(get_services)]


@asynccontextmanager
async def open_console_services() -> AsyncGenerator[ConsoleServices]:
    """Open the services of the data folder, and close them when the block ends. Raise OSError or Locked."""
    broadcast = EventBroadcast()
    await broadcast.start()
    searches = SearchWorkerProcess((await asyncio.to_thread(read_config)).settings.search_port)
    searches.start()
    await asyncio.to_thread(create_call_log)
    inbox = await asyncio.to_thread(Inbox)
    services = ConsoleServices(
        inbox=inbox,
        searches=searches,
        workflows=Service(await asyncio.to_thread(load_settings)),
        broadcast=broadcast,
        sign_ins=await asyncio.to_thread(SignIns),
        runs=RunWorkers(inbox),
        story=StoryRunner(Story(find_story_home(), idle_s=_STORY_IDLE_S)),
        owner=get_user_name(),
    )
    broadcast.add_listener(services.resume_decided_run)
    reading = asyncio.create_task(broadcast.run())
    watching = asyncio.create_task(_announce_workflow_files(services.workflows.home, broadcast))
    looking = asyncio.create_task(announce_installation_changes(broadcast))
    try:
        await services.runs.resume_decided_runs()
        yield services
    finally:
        reading.cancel()
        watching.cancel()
        looking.cancel()
        await asyncio.gather(reading, watching, looking, return_exceptions=True)
        await services.stop_resuming()
        await services.runs.stop()
        await services.story.stop()
        await searches.stop()
        await asyncio.to_thread(services.inbox.close)


async def _announce_workflow_files(home: Path, broadcast: EventBroadcast) -> None:
    """Announce the workflows that any program writes or deletes, also while no server runs, until cancelled.

    Agents write drafts with their own tools. Nothing is read while no stream is open.
    """
    files = await asyncio.to_thread(FileChanges, home)
    while True:
        await asyncio.sleep(_WORKFLOW_FILES_S)
        if broadcast.has_clients:
            changes = await asyncio.to_thread(files.find_changes)
            for change in changes:
                facts = {"source": change.source, "deleted": change.is_deleted}
                await asyncio.to_thread(ChangeFeed().publish, "workflow", change.name, **facts)
            if changes:
                await asyncio.to_thread(files.store_look)
