"""Offer a prompt that clients show as a command: explore a system."""

import json
from typing import Annotated, Final

from pydantic import Field

from universe.service.universes import UniverseService
from universe.systems.catalogue import list_system_names
from uraniborg.kernel.mcp import Server, prompt

_MOST_NAMES: Final = 1_000

_EXPLORE: Final = """\
Explore the universe {id} with me.

1. Call get_universe_state with universeId {id} and maxBytes 4000. Tell me which bodies there are and how they are \
arranged. For details of some of them, call it again with ids and fields.
2. Ask me what I want to know or try. Wait for my answer.
3. To learn a command, call list_universe_commands with universeId {id} and a category. Tell me which command you want \
to send and what it changes, and wait until I agree.
4. Call send_universe_command with universeId {id} and the command. Tell me what changed, and every warning.

I decide about every change: do not send a command that I have not seen. Give the sources that a reply cites for its \
values. To let time pass, send {{"type": "tick", "dt": …}}; in a real system dt is in days."""

_CREATE: Final = """\
I want to explore {system}, but there is no such universe yet, and you cannot create one over MCP.

Ask me to run this in a terminal: universe new --from {system} --id {system}
After I have done so:

"""

_CHOOSE: Final = """\
I want to explore {system}, but there is no universe with this id or name. The universes are: {known}. The real \
systems that can be created are: {systems}.

Show me both lists and ask me which one I mean. Wait for my answer. To create one, I run in a terminal: \
universe new --from SYSTEM --id ID
Then call get_universe_state with its universeId and maxBytes 4000, tell me which bodies there are, and ask me what I \
want to know or try. I decide about every change: do not send a command that I have not seen."""


def add_prompts(server: Server, service: UniverseService) -> None:
    """Offer the prompt on `server`."""

    async def list_names() -> list[str]:
        ids = [record.id for record in await service.list_records(limit=_MOST_NAMES)]
        return [*ids, *(name for name in list_system_names() if name not in ids)]

    async def explore_system(
        system: Annotated[
            str, Field(min_length=1, description="The id or name of a universe, or a real system such as trappist-1.")
        ],
    ) -> str:
        """Look at the bodies of a universe, and try changes after you agree to each."""
        wanted = system.strip()
        records = await service.list_records(limit=_MOST_NAMES)
        for record in records:
            if wanted == record.id or wanted.casefold() == record.name.casefold():
                return _EXPLORE.format(id=_quote(record.id))
        if wanted.lower() in list_system_names():
            return _CREATE.format(system=wanted.lower()) + _EXPLORE.format(id=_quote(wanted.lower()))
        known = ", ".join(_quote(record.id) for record in records[:20]) or "none"
        return _CHOOSE.format(system=_quote(wanted), known=known, systems=", ".join(list_system_names()))

    prompt(server, title="Explore a system", values={"system": list_names})(explore_system)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
