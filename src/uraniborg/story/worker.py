"""`python -m uraniborg.story.worker`: runs steps of the story, in the data folder of its environment.

Each line on stdin is a request: `step`, `inputs`, `actor` and `door`, or `describe` to store the view of the steps, or
`delete` with the actor to delete the story.
The worker answers each with lines on stdout: `{"progress": 0.5}` any number of times, then `{"done": true}` or
`{"error": {…}}`.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import as_error
from uraniborg.kernel.logging import configure_logging, get_logger
from uraniborg.kernel.parent_output import write_line_to_parent
from uraniborg.kernel.settings import HOME
from uraniborg.story.folder import StoryFolder
from uraniborg.story.runner import describe_story, run_step

_log = get_logger(__name__)


def main() -> None:
    """Run the requests on stdin until it ends."""
    configure_logging()
    folder = StoryFolder(Path(os.environ[HOME]))
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        try:
            if "describe" in request:
                describe_story(folder)
            elif "delete" in request:
                asyncio.run(_delete(folder, Actor.model_validate(request["delete"])))
            else:
                asyncio.run(_run_step(folder, request))
            _write_line({"done": True})
        except Exception as error:
            known = as_error(error)
            if known.status == 500:
                _log.exception("a step of the story failed", exc=error)
            _write_line({**known.body(), "status": known.status})


async def _run_step(folder: StoryFolder, request: dict[str, Any]) -> None:
    await run_step(
        folder,
        request["step"],
        request["inputs"],
        actor=Actor.model_validate(request["actor"]),
        door=request["door"],
        progress=lambda done: _write_line({"progress": round(done, 4)}),
    )


async def _delete(folder: StoryFolder, actor: Actor) -> None:
    from uraniborg.story.deletion import delete_story

    await delete_story(folder, actor)


def _write_line(reply: dict[str, Any]) -> None:
    write_line_to_parent(json.dumps(reply))


if __name__ == "__main__":
    main()
