"""Delete what the story has stored, also while a server works with the rest of the folder."""

import asyncio
import shutil
from contextlib import suppress
from typing import cast

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import NotFound
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.part_services import open_sessions, open_universes
from uraniborg.story.errors import StoryUnreadable
from uraniborg.story.folder import StoryFolder
from uraniborg.story.results import Results
from uraniborg.story.universe_steps import UNIVERSE


async def delete_story(folder: StoryFolder, actor: Actor) -> None:
    """Delete the search, the shelf, the universes and the own files of the story. Runs stay in the log of workflows."""
    try:
        results = folder.read_results()
    except StoryUnreadable:
        results = cast("Results", {})
    async with open_universes() as service:
        for universe_id in _list_universes(results):
            with suppress(NotFound):
                await service.delete(universe_id, actor=actor)
    if "ask" in results:
        async with open_sessions() as sessions:
            with suppress(NotFound):
                await asyncio.to_thread(sessions.cleanup, results["ask"]["session_id"], actor=actor)
    has_shelf, has_story = folder.shelf.exists(), folder.own.exists()
    for path in (folder.shelf, folder.own):
        await asyncio.to_thread(shutil.rmtree, path, ignore_errors=True)
    if has_shelf:
        await asyncio.to_thread(record_change, "shelf deleted", str(folder.shelf), actor)
    if has_story:
        await asyncio.to_thread(record_change, "story deleted", str(folder.own), actor)


def _list_universes(results: Results) -> list[str]:
    branches = [
        *([results["branch"]] if "branch" in results else []),
        *([results["break"]["branch"]] if "break" in results else []),
    ]
    return [UNIVERSE, *(branch["universe_id"] for branch in branches)]
