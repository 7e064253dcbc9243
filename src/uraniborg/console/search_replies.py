"""What replies that name sources have in common."""

from pydantic import computed_field

from paper_search.source_labels import get_source_label
from uraniborg.console.replies import Reply


class NamedSource(Reply):
    """A source of papers, with the name that people know."""

    name: str

    @computed_field
    @property
    def label(self) -> str:
        """The name that people know, such as `Semantic Scholar`."""
        return get_source_label(self.name)
