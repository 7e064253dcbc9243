"""A collection as JSON, complete: reading it back gives the same collection."""

import json

from pydantic_core import PydanticSerializationError, to_json

from paper_search.export.text import SURROGATE
from paper_search.models import PaperCollection


def export_json(collection: PaperCollection, indent: int = 2) -> str:
    """Return the collection as JSON text, each paper with its `citation_key`, the key it has in BibTeX.

    Does not raise; lone surrogates, which no UTF-8 can hold, become U+FFFD.
    """
    from paper_search.export.citekeys import citation_keys  # loads a BibTeX library, which an import should not

    document = collection.model_dump(mode="json")
    for paper, key in zip(document["papers"], citation_keys(collection.papers), strict=True):
        paper["citation_key"] = key
    try:
        return to_json(document, indent=indent).decode()
    except PydanticSerializationError:
        text = SURROGATE.sub("\ufffd", json.dumps(document, ensure_ascii=False))
        return to_json(json.loads(text), indent=indent).decode()
