"""Store the result of each step before the next one starts, so that a search can be continued; large ones in parts.

A search that is started again with the same journal reads the stored results instead of repeating the steps, and so
continues where it stopped. A session stores its journal on disk.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar, cast

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


_MANY: Final = 200
"""A list of more items is written item by item."""


def dump_in_parts(model: BaseModel) -> str:
    """Return the same as `model_dump_json`, but with the fields that contain long lists at the end."""
    large = {name: text for name in type(model).model_fields if (text := _dump_if_large(getattr(model, name)))}
    if not large:
        return model.model_dump_json()
    rest = model.model_dump_json(exclude=set(large))
    parts = [rest[1:-1], *(f'"{name}":{text}' for name, text in large.items())]
    return f"{{{','.join(filter(None, parts))}}}"


def _dump_if_large(value: object) -> str | None:
    """Return the JSON of a long list of models, or of a model that contains a long list; None for other values."""
    if not _holds_long_model_list(value):
        return None
    if isinstance(value, BaseModel):
        return dump_in_parts(value)
    return f"[{','.join(item.model_dump_json() for item in cast('list[BaseModel]', value))}]"


def _holds_long_model_list(value: object) -> bool:
    if isinstance(value, BaseModel):
        return any(_holds_long_model_list(getattr(value, name)) for name in type(value).model_fields)
    items = cast("list[object]", value) if isinstance(value, list) else []
    return len(items) > _MANY and isinstance(items[0], BaseModel)
