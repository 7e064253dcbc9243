"""Read papers in Markdown: their YAML front matter, else their headings, and their text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from paper_library.domain.entries import BuildProblem, Entry
from paper_library.domain.markdown import extract_plain_text, find_section_text, find_title
from paper_library.service.build.readers.texts_and_dates import (
    make_title_from_stem,
    parse_month,
    parse_year,
    parse_year_and_month,
    read_text,
    yield_file_errors_as_problems,
)
from uraniborg.kernel.bibliography.latex import decode_latex
from uraniborg.kernel.bibliography.names import read_names
from uraniborg.kernel.bibliography.plain_text import (
    clean_line,
    clean_markdown_block,
    clean_unique_values,
    normalise_pages,
    split_list,
)
from uraniborg.kernel.boundary import make_all_encodable
from uraniborg.kernel.errors import is_out_of_room

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject


MAX_CHARS = 262_144
"""Longer front matter is not read: it does not describe a paper."""
_FENCES = re.compile(r"\A\s*---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_SIMPLE_LINE = re.compile(r"^([A-Za-z_-]+):[ \t]+(\S.*)$", re.MULTILINE)
_FOOTNOTE = re.compile(r"\^\[[^\[\]]*\]|\[\^[^\[\]]*\]|\^[\d,*† ]{1,12}\^")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_EMPHASIS = re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3}|`+)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_MAX_EMPHASISED = 5_000
_NOTHING = frozenset(("", "~", "null", "none", "todo", "tbd"))


@dataclass(slots=True)
class FrontMatter:
    """A Markdown file: the fields of its front matter, the text after it, and a problem with the front matter."""

    fields: "JsonObject | None"
    body: str
    problem: str = ""


def split_front_matter(text: str) -> FrontMatter:
    """Return the front matter and the rest. Broken YAML gives the fields of its simple lines, and a problem."""
    match = _FENCES.match(text)
    if match is None:
        return FrontMatter(None, text)
    yaml_text, body = match[1], text[match.end() :]
    if len(yaml_text) > MAX_CHARS:
        return FrontMatter(_parse_simple_lines(yaml_text[:MAX_CHARS]), body, f"is longer than {MAX_CHARS} characters")
    try:
        # Every value as it is written: read by type, an arXiv id loses its last zero and Norwegian becomes false.
        # The C loader is faster, and overruns the stack when nested deeply.
        value = yaml.load(yaml_text, Loader=yaml.BaseLoader)  # noqa: S506 (it makes texts, lists and mappings only)
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        return FrontMatter(
            _parse_simple_lines(yaml_text), body, f"is not YAML{line}: {error.problem or 'it ends too early'}"
        )
    except (yaml.YAMLError, RecursionError, ValueError):
        return FrontMatter(_parse_simple_lines(yaml_text), body, "is not YAML")
    if isinstance(value, dict):
        return FrontMatter(make_all_encodable(value), body)
    # Text between two rules, not front matter; or nothing at all.
    return FrontMatter({}, body) if value in ("", None) else FrontMatter(None, text)


def fill_entry(entry: Entry, fields: "JsonObject") -> None:
    """Set the attributes of the entry from the fields."""
    named = {str(name).lower().replace("_", "-"): value for name, value in fields.items()}
    entry.title = strip_markdown_and_latex(_read_first_text(named, "title", "paper-title"))
    if subtitle := strip_markdown_and_latex(_read_first_text(named, "subtitle")):
        entry.title = f"{entry.title}: {subtitle}" if entry.title else subtitle
    authors = named.get("authors") or named.get("author")
    entry.authors = [
        name for author in read_names(_replace_placeholder_by_none(authors)) if (name := _clean_author_name(author))
    ]
    entry.institutions = _read_institutions(named, authors)
    dated, month = parse_year_and_month(_read_first_text(named, "date", "published", "publication-date"))
    entry.year = parse_year(_read_first_text(named, "year")) or dated
    entry.month = parse_month(_read_first_text(named, "month")) or month
    entry.venue = strip_markdown_and_latex(
        _read_first_text(named, "journal", "venue", "booktitle", "container-title", "publication")
    )
    entry.volume, entry.issue = _read_first_text(named, "volume"), _read_first_text(named, "issue", "number")
    entry.pages, entry.publisher = (
        normalise_pages(_read_first_text(named, "pages", "page")),
        strip_markdown_and_latex(_read_first_text(named, "publisher")),
    )
    entry.abstract = strip_markdown_and_latex(_read_first_text(named, "abstract", "description"))
    entry.keywords = split_list(_replace_placeholder_by_none(named.get("keywords") or named.get("keyword")))
    entry.tags = split_list(_replace_placeholder_by_none(named.get("tags") or named.get("categories")))
    entry.language = _read_first_text(named, "lang", "language")
    entry.kind = _read_first_text(named, "type", "kind")
    entry.identifiers = _read_identifiers(named)


def clean_name_or_names(value: "Json") -> list[str]:
    return clean_unique_values(value) if isinstance(value, list) else clean_unique_values([value])


def strip_markdown_and_latex(text: str) -> str:
    """Return one line of Markdown without its markup."""
    if "\\" in text or "$" in text:
        text = decode_latex(text.replace("\\-", "-"))  # in Markdown it is a minus sign
    text = _LINK.sub(r"\1", _FOOTNOTE.sub("", text))
    # In a long text of stars each would be searched for its partner to the end.
    return clean_line(_EMPHASIS.sub(r"\2", text) if len(text) < _MAX_EMPHASISED else text)


def _read_identifiers(named: "JsonObject") -> dict[str, str]:
    found = {
        "doi": _read_first_text(named, "doi"),
        "arxiv": _read_first_text(named, "arxiv", "arxiv-id", "arxivid", "eprint"),
        "pmid": _read_first_text(named, "pmid"),
        "pmcid": _read_first_text(named, "pmcid"),
        "isbn": _read_first_text(named, "isbn"),
        "bibkey": _read_first_text(named, "bibkey", "citekey", "citation-key", "cite-key", "bibtex-key"),
        "url": _read_first_text(named, "url", "link"),
    }
    return {scheme: value for scheme, value in found.items() if value}


def _read_institutions(named: "JsonObject", authors: "Json") -> list[str]:
    names = _read_institution_names(named.get("affiliations") or named.get("affiliation") or named.get("institutions"))
    if isinstance(authors, list):
        for author in authors:
            if isinstance(author, dict):
                names += _read_institution_names(author.get("affiliation") or author.get("affiliations"))
    # Authors mostly refer to the list by number, or by numbers.
    return list(dict.fromkeys(name for name in names if not name.replace(",", "").replace(" ", "").isdigit()))


def _read_institution_names(value: "Json") -> list[str]:
    items = value if isinstance(value, list) else [value]
    names: list[str] = []
    for item in items:
        if isinstance(item, dict):
            item = item.get("name")  # noqa: PLW2901
        if isinstance(item, str) and (name := strip_markdown_and_latex(item)):
            names.append(name)
    return names


def _clean_author_name(name: str) -> str:
    return strip_markdown_and_latex(name).strip(" ,*")


def _replace_placeholder_by_none(value: "Json") -> "Json":
    return None if isinstance(value, str) and value.strip().lower() in _NOTHING else value


def _read_first_text(named: "JsonObject", *names: str) -> str:
    for name in names:
        value = named.get(name)
        if isinstance(value, list):
            value = next(iter(value), None)
        if isinstance(value, str) and value.strip().lower() not in _NOTHING:
            return clean_line(value)
    return ""


def _parse_simple_lines(yaml_text: str) -> "JsonObject":
    return {name: value.strip().strip("'\"") for name, value in _SIMPLE_LINE.findall(yaml_text)}


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
def read_entries(path: Path, origin: str) -> Iterator[Entry | BuildProblem]:
    """Yield the paper of one Markdown file, and a problem if its front matter is not YAML."""
    text = clean_markdown_block(read_text(path, MAX_BYTES))
    if not text.strip():
        yield BuildProblem(origin, "skipped", "The file is empty.")
        return
    parts = split_front_matter(text)
    if parts.fields is None and (description := _NO_PAPERS.get(Path(origin).stem.lower().replace("-", "_"))):
        yield BuildProblem(
            origin,
            "skipped",
            f"The file looks like {description}. To add it to the shelf, give it front matter with a title.",
        )
        return
    yield _make_entry(origin, parts)
    if parts.problem:
        reason = f"The front matter {parts.problem}. Only its simple lines were read. Correct it and build again."
        yield BuildProblem(origin, "broken", reason)


def split_translation_name(name: str) -> tuple[str, str] | None:
    """Return the stem and the language of `paper.pt-BR.md`, or None for a name without a language."""
    match = _TRANSLATION.fullmatch(name)
    return (match["stem"], match["lang"].lower()) if match else None


def read_translation(path: Path) -> str:
    """Return the Markdown of a translation without front matter. Raise OSError, also for a file beyond `MAX_BYTES`."""
    return split_front_matter(clean_markdown_block(read_text(path, MAX_BYTES))).body.strip()


def read_bibliography_names(path: Path) -> list[str]:
    """Return the names of the bibliographies in the front matter; [] for a file that cannot be read."""
    try:
        fields = split_front_matter(clean_markdown_block(read_text(path, MAX_BYTES))).fields or {}
    except OSError as error:
        if is_out_of_room(error):
            raise
        return []
    return clean_name_or_names(fields.get("bibliography"))


def _make_entry(origin: str, parts: FrontMatter) -> Entry:
    entry = Entry(source=parts.body.strip(), origin=origin)
    if parts.fields:
        fill_entry(entry, parts.fields)
    # A text that has a title in front begins its sections with headings of level 1.
    entry.title = (
        entry.title or strip_markdown_and_latex(find_title(parts.body)) or make_title_from_stem(Path(origin).stem)
    )
    abstract = entry.abstract or find_section_text(parts.body, "abstract") or find_section_text(parts.body, "summary")
    entry.abstract = clean_line(extract_plain_text(abstract[:_ABSTRACT_CHARS]))
    return entry
