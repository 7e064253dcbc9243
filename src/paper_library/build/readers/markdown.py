"""Read papers in Markdown: their front matter, else their headings, and their text."""

import re
from collections.abc import Iterator
from pathlib import Path

from paper_library.build.entry import Entry, Problem
from paper_library.build.readers import front_matter
from paper_library.build.readers.text_files import make_title_from_stem, read_text, yield_file_errors_as_problems
from paper_library.text.markdown import extract_plain_text, find_section_text, find_title
from uraniborg.kernel.bibliography.clean_text import clean_line, clean_markdown_block
from uraniborg.kernel.errors import is_out_of_room

MAX_BYTES = 64 << 20
"""A larger file is not the text of one paper."""
_ABSTRACT_CHARS = 20_000
_TRANSLATION = re.compile(
    r"(?P<stem>.+)\.(?P<lang>[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)\.(?:md|markdown)", re.IGNORECASE | re.DOTALL
)
_NO_PAPERS = {
    **dict.fromkeys(("readme", "index", "summary"), "a guide to a folder"),
    **dict.fromkeys(("changelog", "changes", "history", "news", "release_notes", "releases"), "a list of changes"),
    **dict.fromkeys(("license", "licence", "copying", "notice", "copyright"), "a licence"),
    **dict.fromkeys(("contributing", "code_of_conduct", "security", "support", "governance"), "a project's rules"),
    **dict.fromkeys(("authors", "contributors", "maintainers", "credits", "acknowledgements"), "a list of people"),
    **dict.fromkeys(("todo", "install", "installation", "roadmap", "claude", "agents"), "a project's notes"),
}


@yield_file_errors_as_problems
def read_entries(path: Path, origin: str) -> Iterator[Entry | Problem]:
    """Yield the paper of one Markdown file, and a problem if its front matter is not YAML."""
    text = clean_markdown_block(read_text(path, MAX_BYTES))
    if not text.strip():
        yield Problem(origin, "skipped", "The file is empty.")
        return
    parts = front_matter.split_front_matter(text)
    if parts.fields is None and (description := _NO_PAPERS.get(Path(origin).stem.lower().replace("-", "_"))):
        yield Problem(
            origin,
            "skipped",
            f"The file looks like {description}. To add it to the shelf, give it front matter with a title.",
        )
        return
    yield _make_entry(origin, parts)
    if parts.problem:
        reason = f"The front matter {parts.problem}. Only its simple lines were read. Correct it and build again."
        yield Problem(origin, "broken", reason)


def split_translation_name(name: str) -> tuple[str, str] | None:
    """Return the stem and the language of `paper.pt-BR.md`, or None for a name without a language."""
    match = _TRANSLATION.fullmatch(name)
    return (match["stem"], match["lang"].lower()) if match else None


def read_translation(path: Path) -> str:
    """Return the Markdown of a translation without front matter. Raise OSError, also for a file beyond `MAX_BYTES`."""
    return front_matter.split_front_matter(clean_markdown_block(read_text(path, MAX_BYTES))).body.strip()


def read_bibliography_names(path: Path) -> list[str]:
    """Return the names of the bibliographies in the front matter; [] for a file that cannot be read."""
    try:
        fields = front_matter.split_front_matter(clean_markdown_block(read_text(path, MAX_BYTES))).fields or {}
    except OSError as error:
        if is_out_of_room(error):
            raise
        return []
    return front_matter.clean_name_or_names(fields.get("bibliography"))


def _make_entry(origin: str, parts: front_matter.FrontMatter) -> Entry:
    entry = Entry(source=parts.body.strip(), origin=origin)
    if parts.fields:
        front_matter.fill_entry(entry, parts.fields)
    # A text that has a title in front begins its sections with headings of level 1.
    entry.title = (
        entry.title
        or front_matter.strip_markdown_and_latex(find_title(parts.body))
        or make_title_from_stem(Path(origin).stem)
    )
    abstract = entry.abstract or find_section_text(parts.body, "abstract") or find_section_text(parts.body, "summary")
    entry.abstract = clean_line(extract_plain_text(abstract[:_ABSTRACT_CHARS]))
    return entry
