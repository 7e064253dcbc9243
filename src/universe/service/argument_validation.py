"""Check arguments of the service: commands, names, ids, authors and idempotency keys."""

import asyncio
from typing import Any, Final, cast

import orjson

from universe.domain.command_parser import parse_command
from universe.domain.commands import Command
from universe.domain.state import EMPTY, Plain, check_and_copy_plain_state
from universe.errors import MalformedCommand, MalformedRequest
from uraniborg.kernel.boundary import is_encodable
from uraniborg.kernel.errors import UraniborgError

NAME_CHARS: Final = 200
ID_CHARS: Final = 200
KEY_CHARS: Final = 200
AUTHOR_CHARS: Final = 100
"""The length of a name and the kind of client."""
LIST_COMMANDS: Final = 1_000
"""The most commands in one list."""
_INLINE_BYTES: Final = 64 * 1024

Commands = list[Command]


async def parse_commands(given: Any) -> Commands:
    """Return the command, or all commands of a list. Raise UnknownCommand or MalformedCommand."""
    return await asyncio.to_thread(_parse_one_or_list, given) if _is_slow_to_check(given) else _parse_one_or_list(given)


def _is_slow_to_check(command: Any) -> bool:
    """Return True if the check takes so long that it needs a thread."""
    try:
        return len(orjson.dumps(command)) > _INLINE_BYTES
    except orjson.JSONEncodeError:
        return True


def _parse_one_or_list(command: Any) -> Commands:
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


async def parse_plain_state(given: Any) -> Plain:
    """Return a checked copy of a state; an empty state for None. Raise MalformedState."""
    return EMPTY.to_plain() if given is None else await asyncio.to_thread(check_and_copy_plain_state, given)


def check_and_strip_name(name: Any) -> str:
    """Return the name of a universe without spaces around it. Raise MalformedRequest."""
    if not isinstance(name, str) or not 0 < len(name.strip()) <= NAME_CHARS or not _is_storable_text(name):
        raise MalformedRequest(
            f"name must be text of 1 to {NAME_CHARS} characters.",
            hint="For example 'TRAPPIST-1 with a heavier e'. The id is separate.",
            argument="name",
            allowed=f"1 to {NAME_CHARS} characters",
        )
    return name.strip()


def _is_storable_text(text: str) -> bool:
    return is_encodable(text) and "\0" not in text


def check_universe_id(universe_id: Any) -> str:
    """Return the id for a new universe. Raise MalformedRequest."""
    fits = isinstance(universe_id, str) and 0 < len(universe_id) <= ID_CHARS and universe_id.isprintable()
    # URLs treat these two names as folders.
    if not fits or "/" in universe_id or universe_id in (".", ".."):
        raise MalformedRequest(
            f"id must have 1 to {ID_CHARS} printable characters and no slash.",
            hint="Leave it out to get a new id.",
            argument="id",
            allowed=f"1 to {ID_CHARS} printable characters without a slash",
        )
    return universe_id


def check_and_strip_author(author: Any) -> str:
    """Return the name of the author of a change. Raise MalformedRequest."""
    if not isinstance(author, str) or not 0 < len(author.strip()) <= AUTHOR_CHARS or not author.isprintable():
        raise MalformedRequest(
            f"author must be printable text of 1 to {AUTHOR_CHARS} characters.",
            hint="Give a name such as 'Tycho Brahe'. The history shows it.",
            argument="author",
            allowed=f"1 to {AUTHOR_CHARS} printable characters",
        )
    return author.strip()


def check_idempotency_key(key: str | None) -> str | None:
    """Return the idempotency key, or None. Raise MalformedRequest."""
    if key is not None and not (1 <= len(key) <= KEY_CHARS and is_encodable(key)):
        raise MalformedRequest(
            f"An idempotency key must have 1 to {KEY_CHARS} characters.",
            hint="Use a new UUID for each request.",
            argument="Idempotency-Key",
            allowed=f"1 to {KEY_CHARS} characters",
        )
    return key
