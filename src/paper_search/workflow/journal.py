"""The memory of a run: each stage's output is kept before the next stage begins.

A run that is started again with the same journal takes what it finds there instead of doing the work again, and so
comes back to where it was. A server that keeps its journal on disk survives its own death.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


class Journal(Protocol):
    async def remember(self, step: str, kind: type[M], make: Callable[[], Awaitable[M]]) -> M:
        """What the journal holds for `step`, or else what `make` gives, kept before it is returned."""
        ...


class NoJournal:
    """Remembers nothing: every run does its work anew."""

    async def remember(self, step: str, kind: type[M], make: Callable[[], Awaitable[M]]) -> M:
        return await make()


class MemoryJournal:
    """Remembers in a dictionary, as text, so that nothing in it can be changed from outside."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}

    async def remember(self, step: str, kind: type[M], make: Callable[[], Awaitable[M]]) -> M:
        if (kept := self.entries.get(step)) is not None:
            return kind.model_validate_json(kept)
        made = await make()
        self.entries[step] = made.model_dump_json()
        return made
