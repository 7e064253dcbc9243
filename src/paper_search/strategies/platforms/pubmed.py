"""Write strategies for PubMed, in whose syntax they are read."""

from typing import Final

from paper_search.strategies.rendering import Changes, Piece, Platform
from paper_search.strategies.terms import FieldTerm


def _render_term(term: FieldTerm, _changes: Changes) -> Piece:
    # Not a format field: PubMed has no tag for several terms at once.
    return Piece(term.source_text)


PUBMED: Final = Platform("pubmed", "PubMed", _render_term, keeps_untagged=True)
