"""Two tools beyond the six, offered when asked for: one section of a paper, and citations of several."""

from typing import Annotated, Any, Final

from pydantic import Field

from paper_library.errors import OutOfBounds
from paper_library.library import Library
from paper_library.limits import VALUE_CHARS
from paper_library.offloading import Threads
from paper_library.text.cutting import piece
from uraniborg.kernel.mcp import Server, tool
from uraniborg.kernel.text import fold

_MOST_CITED: Final = 100


def add_extra_tools(server: Server, library: Library, threads: Threads) -> None:
    @tool(server, title="Read one section", read_only=True, idempotent=True)
    async def read_paper_section(
        paper_id: Annotated[str, Field(min_length=1, max_length=VALUE_CHARS, description="The paper.")],
        section: Annotated[
            str, Field(min_length=1, max_length=VALUE_CHARS, description="A heading of the outline, or words of it.")
        ],
        max_chars: Annotated[int | None, Field(ge=1, description="At most this many characters.")] = None,
    ) -> str:
        """One section of a paper's source text, with its subsections, as markdown.

        Use it instead of get_paper_source when get_paper_metadata's outline shows the section you need.
        """
        text = await threads.fetch(lambda: library.source(paper_id))
        return piece(_section(text, library.metadata(paper_id)["outline"], section), 0, max_chars)

    @tool(server, title="Export citations", read_only=True, idempotent=True)
    async def export_citations(
        paper_ids: Annotated[
            list[str], Field(min_length=1, max_length=_MOST_CITED, description="The papers, each once in the result.")
        ],
    ) -> str:
        """BibTeX entries of papers of this shelf: as their owner wrote them, else made of what is known."""
        return await threads.run(lambda: _citations(library, paper_ids))


def _section(text: str, outline: list[dict[str, Any]], wanted: str) -> str:
    """From the heading that is meant to the next one of its level or above."""
    name = fold(wanted)
    titles = [fold(heading["title"]) for heading in outline]
    matches = [at for at, title in enumerate(titles) if title == name] or [
        at for at, title in enumerate(titles) if name in title
    ]
    if not matches:
        listed = ", ".join(heading["title"] for heading in outline[:20])
        raise OutOfBounds("section", "a heading of the outline", hint=f"There are: {listed or 'none'}.")
    start = outline[matches[0]]
    later = (heading["offset"] for heading in outline[matches[0] + 1 :] if heading["level"] <= start["level"])
    return text[start["offset"] : next(later, len(text))].rstrip()


def _citations(library: Library, paper_ids: list[str]) -> str:
    ids = dict.fromkeys(library.metadata(paper)["paper_id"] for paper in paper_ids)
    entries = {paper_id: library.bibtex(paper_id).strip() for paper_id in ids}
    return "\n\n".join(entries.values()) + "\n"
