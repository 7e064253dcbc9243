"""Find the bundle of the last story, for `uraniborg export` without a choice."""

import asyncio
from pathlib import Path
from typing import Any

from uraniborg.bundle.command import CHOICES
from uraniborg.bundle.pieces import BundleFile
from uraniborg.kernel.errors import UsageError
from uraniborg.kernel.progress import ReportItem
from uraniborg.story.folder import find_story_home
from uraniborg.story.service import Story


async def read_story_bundle(report: ReportItem) -> list[BundleFile]:
    """Rewrite the bundle of the last story and return its files. Raise UsageError if the story is not finished."""
    home = find_story_home()
    story = Story(home)
    if not await asyncio.to_thread(story.folder.state_file.is_file):
        raise UsageError("Nothing is chosen, and there is no story.", hint=CHOICES)
    try:
        report("the story")
        state = await story.get_state()
        if state["next"] not in (None, "export"):
            raise UsageError(
                f"Nothing is chosen, and the story is not finished: its next step is '{state['next']}'.",
                hint=f"Finish it with `uraniborg demo --script`, or choose. {CHOICES}",
            )
        result: Any = (await story.run_step("export"))["result"]
    finally:
        await story.aclose()

    def read() -> list[BundleFile]:
        folder: Path = story.folder.bundle
        return [
            BundleFile(one["path"], one["description"], (folder / one["path"]).read_bytes()) for one in result["files"]
        ]

    return await asyncio.to_thread(read)
