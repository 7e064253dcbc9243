"""Parts of replies: texts and lists of limited size, addresses of resources, and models as declared fields."""

from collections.abc import Mapping
from typing import Final, TypeVar, cast, overload

from pydantic import BaseModel
from pydantic_core import to_json

REPLY_BYTES: Final = 25_000
"""The maximum size of a reply that is not an export."""

T = TypeVar("T")
Fields = TypeVar("Fields", bound=Mapping[str, object])


@overload
def clip_text(text: str, max_chars: int) -> str: ...
@overload
def clip_text(text: str | None, max_chars: int) -> str | None: ...
def clip_text(text: str | None, max_chars: int) -> str | None:
    """Return the text, shortened to `max_chars` characters with an ellipsis."""
    return text if text is None or len(text) <= max_chars else text[: max_chars - 1] + "…"


def count_json_bytes(value: object) -> int:
    return len(to_json(value))


def shorten_to_fit(value: Fields, max_bytes: int) -> Fields:
    """Return the fields, with texts and lists shortened until they fit; `shortened` is set then."""
    for texts, items in ((400, 20), (200, 10), (80, 5), (40, 3)):
        if count_json_bytes(value) <= max_bytes:
            return value
        value = cast("Fields", {**shorten_value(value, texts, items), "shortened": True})
    return value


def shorten_value(value: T, max_chars: int, max_items: int) -> T:
    """Return the value with long texts and lists shortened."""
    shortened: object = value
    if isinstance(value, str):
        shortened = clip_text(value, max_chars)
    elif isinstance(value, list):
        listed = cast("list[object]", value)
        shortened = [shorten_value(item, max_chars, max_items) for item in listed[:max_items]]
    elif isinstance(value, Mapping):
        fields = cast("Mapping[str, object]", value)
        shortened = {key: shorten_value(item, max_chars, max_items) for key, item in fields.items()}
    return cast("T", shortened)


def build_papers_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the papers of a session from `offset` on."""
    return f"paper-search://sessions/{session_id}/papers" + (f"/{offset}" if offset else "")


def build_removed_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the papers that are not in the result, from `offset` on."""
    return f"paper-search://sessions/{session_id}/removed" + (f"/{offset}" if offset else "")


def build_queries_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the complete queries of a session's strategy, from `offset` on."""
    return f"paper-search://sessions/{session_id}/queries" + (f"/{offset}" if offset else "")


def build_export_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the parts of a session's JSON export from `offset` on."""
    return f"paper-search://sessions/{session_id}/export" + (f"/{offset}" if offset else "")


Declared = TypeVar("Declared")


def dump_as(declared: type[Declared], model: BaseModel, *, exclude_none: bool = False) -> Declared:
    """Return the fields of the model that a TypedDict declares, as plain JSON; the model must have them."""
    fields = model.model_dump(mode="json", include=set(declared.__annotations__), exclude_none=exclude_none)
    return cast("Declared", fields)
