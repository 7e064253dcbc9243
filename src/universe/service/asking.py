"""What callers of the service say, checked before anything is done with it."""

import asyncio
from typing import Any, Final, cast

import orjson

from universe.domain.commands import Command, parse_command
from universe.domain.state import EMPTY, Plain, checked_state
from universe.errors import MalformedCommand, MalformedRequest
from uraniborg.kernel.errors import UraniborgError

NAME_CHARS: Final = 200
ID_CHARS: Final = 200
KEY_CHARS: Final = 200
AUTHOR_CHARS: Final = 220
"""Of a name and the kind of client."""
LIST_COMMANDS: Final = 1_000
"""The most commands that are applied together."""
_LIGHT_BYTES: Final = 64 * 1024

Commands = list[Command]


async def commands_in(given: Any) -> Commands:
    """The command, or all commands of a list. Raises UnknownCommand or MalformedCommand."""
    return await asyncio.to_thread(_parsed, given) if _is_heavy(given) else _parsed(given)


def _is_heavy(command: Any) -> bool:
    """Whether checking it would keep everybody else waiting."""
    try:
        return len(orjson.dumps(command)) > _LIGHT_BYTES
    except orjson.JSONEncodeError:
        return True


def _parsed(command: Any) -> Commands:
    if not isinstance(command, list):
        return [parse_command(command)]
    given = cast("Commands", command)
    if not 1 <= len(given) <= LIST_COMMANDS:
        raise MalformedCommand("", f"is a list of {len(given):,} commands", allowed=f"1 to {LIST_COMMANDS:,} commands")
    parsed: Commands = []
    for index, one in enumerate(given):
        try:
            parsed.append(parse_command(one))
        except UraniborgError as exc:
            exc.ids["index"] = index
            raise
    return parsed


async def plain_state(given: Any) -> Plain:
    return EMPTY.plain() if given is None else await asyncio.to_thread(checked_state, given)


def checked_name(name: Any) -> str:
    if not isinstance(name, str) or not 0 < len(name.strip()) <= NAME_CHARS or not _is_whole(name):
        raise MalformedRequest(
            f"name must be text of 1 to {NAME_CHARS} characters.",
            hint="It is what people call the universe; its id is made for it.",
            argument="name",
            allowed=f"1 to {NAME_CHARS} characters",
        )
    return name.strip()


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def checked_id(universe_id: Any) -> str:
    fits = isinstance(universe_id, str) and 0 < len(universe_id) <= ID_CHARS and universe_id.isprintable()
    # Two names that addresses take for folders.
    if not fits or "/" in universe_id or universe_id in (".", ".."):
        raise MalformedRequest(
            f"An id has 1 to {ID_CHARS} printable characters and no slash.",
            hint="Leave it out to have one made.",
            argument="id",
            allowed=f"1 to {ID_CHARS} printable characters without a slash",
        )
    return universe_id


def checked_author(author: Any) -> str:
    """Return the name of the author of a change, as the client gives it. Raise MalformedRequest."""
    if not isinstance(author, str) or not 0 < len(author.strip()) <= AUTHOR_CHARS or not author.isprintable():
        raise MalformedRequest(
            f"author must be printable text of 1 to {AUTHOR_CHARS} characters.",
            hint="It names who makes the change, such as 'Tycho Brahe'; history shows it.",
            argument="author",
            allowed=f"1 to {AUTHOR_CHARS} printable characters",
        )
    return author.strip()


def checked_key(key: str | None) -> str | None:
    if key is not None and not 1 <= len(key) <= KEY_CHARS:
        raise MalformedRequest(
            f"An idempotency key has 1 to {KEY_CHARS} characters.",
            hint="A UUID for each request is usual.",
            argument="Idempotency-Key",
            allowed=f"1 to {KEY_CHARS} characters",
        )
    return key
