"""A collection as JSON that reads back as the same collection."""

from paper_search.models import PaperCollection


def export_json(collection: PaperCollection, indent: int = 2) -> str:
    """Return the collection as JSON."""
    return collection.model_dump_json(indent=indent)
