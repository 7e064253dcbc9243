"""Write large models as JSON part by part, so that other threads of the process can run."""

from typing import Final, cast

from pydantic import BaseModel

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
    if not _is_large(value):
        return None
    if isinstance(value, BaseModel):
        return dump_in_parts(value)
    return f"[{','.join(item.model_dump_json() for item in cast('list[BaseModel]', value))}]"


def _is_large(value: object) -> bool:
    if isinstance(value, BaseModel):
        return any(_is_large(getattr(value, name)) for name in type(value).model_fields)
    items = cast("list[object]", value) if isinstance(value, list) else []
    return len(items) > _MANY and isinstance(items[0], BaseModel)
