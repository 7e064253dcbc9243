"""A collection as JSON that reads back as the same collection."""

import json

from pydantic_core import PydanticSerializationError

from paper_search.models import PaperCollection
from uraniborg.kernel.bibliography.one_line_text import SURROGATE


def export_json(collection: PaperCollection, indent: int = 2) -> str:
    """Return the collection as JSON. Does not raise; lone surrogates, which UTF-8 cannot encode, become U+FFFD."""
    try:
        return collection.model_dump_json(indent=indent)
    except PydanticSerializationError:
        text = json.dumps(collection.model_dump(mode="json"), ensure_ascii=False)
        return PaperCollection.model_validate_json(SURROGATE.sub("\ufffd", text)).model_dump_json(indent=indent)
