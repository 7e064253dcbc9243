"""Store the result of each step before the next one starts, so that a search can be continued.

A search that is started again with the same journal reads the stored results instead of repeating the steps, and so
continues where it stopped. A session stores its journal on disk.
"""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


class StepJournal(Protocol):
    """Results of steps by name, each stored once."""

    async def get_or_run_and_store(self, step: str, model: type[M], run: Callable[[], Awaitable[M]]) -> M:
        """Return the stored result of `step`; if there is none, run the step and store its result first."""
        ...


class NoJournal:
    """A journal that stores nothing."""

    async def get_or_run_and_store(self, step: str, model: type[M], run: Callable[[], Awaitable[M]]) -> M:
        """Run the step."""
        return await run()


class MemoryJournal:
    """A journal in memory. Results are stored as JSON text, so that later changes of a value do not reach it."""

    def __init__(self) -> None:
        self.entries: dict[str, str] = {}

    async def get_or_run_and_store(self, step: str, model: type[M], run: Callable[[], Awaitable[M]]) -> M:
        """Return the stored result of `step`; if there is none, run the step and store its result first."""
        if (stored := self.entries.get(step)) is not None:
            return model.model_validate_json(stored)
        result = await run()
        self.entries[step] = result.model_dump_json()
        return result
