"""The YAML in front of a markdown text, and what it says about a paper."""

import re
from dataclasses import dataclass
from typing import Any, cast

import yaml

from paper_library.build.entry import Entry
from paper_library.build.readers import tidy
from paper_library.build.readers.dates import month_number, year_and_month, year_number
from paper_library.build.readers.names import people
from uraniborg.kernel.bibliography.latex import decode_latex

MAX_CHARS = 262_144
"""Longer front matter is not read: it is no description of a paper."""
_FENCES = re.compile(r"\A\s*---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_SIMPLE_LINE = re.compile(r"^([A-Za-z_-]+):[ \t]+(\S.*)$", re.MULTILINE)
_FOOTNOTE = re.compile(r"\^\[[^\[\]]*\]|\[\^[^\[\]]*\]|\^[\d,*† ]{1,12}\^")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_EMPHASIS = re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3}|`+)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_MAX_EMPHASISED = 5_000
_NOTHING = frozenset(("", "~", "null", "none", "todo", "tbd"))


@dataclass(slots=True)
class Split:
    """A markdown file: what its front matter says, the text after it, and what was wrong with the former."""

    fields: dict[str, Any] | None
    body: str
    problem: str = ""


def split(text: str) -> Split:
    """The front matter and the rest. Broken YAML leaves what its simple lines say, and a problem."""
    match = _FENCES.match(text)
    if match is None:
        return Split(None, text)
    yaml_text, body = match[1], text[match.end() :]
    if len(yaml_text) > MAX_CHARS:
        return Split(_simple_lines(yaml_text[:MAX_CHARS]), body, f"is longer than {MAX_CHARS} characters")
    try:
        # Every value as it is written: read by type, an arXiv id loses its last zero and Norwegian becomes false.
        # The C loader is faster, and overruns the stack when nested deeply.
        value = yaml.load(yaml_text, Loader=yaml.BaseLoader)  # noqa: S506 (it makes texts, lists and mappings only)
    except yaml.MarkedYAMLError as error:
        place = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        return Split(_simple_lines(yaml_text), body, f"is not YAML{place}: {error.problem or 'it ends too early'}")
    except (yaml.YAMLError, RecursionError, ValueError):
        return Split(_simple_lines(yaml_text), body, "is not YAML")
    if isinstance(value, dict):
        return Split(cast("dict[str, Any]", value), body)
    # Text between two rules, not front matter; or nothing at all.
    return Split({}, body) if value in ("", None) else Split(None, text)


def describe(entry: Entry, fields: dict[str, Any]) -> None:
    """Puts into the entry what the fields say."""
    named = {str(name).lower().replace("_", "-"): value for name, value in fields.items()}
    entry.title = plain(_text(named, "title", "paper-title"))
    if subtitle := plain(_text(named, "subtitle")):
        entry.title = f"{entry.title}: {subtitle}" if entry.title else subtitle
    authors = named.get("authors") or named.get("author")
    entry.authors = [name for author in people(_known(authors)) if (name := _person(author))]
    entry.institutions = _institutions(named, authors)
    dated, month = year_and_month(_text(named, "date", "published", "publication-date"))
    entry.year = year_number(_text(named, "year")) or dated
    entry.month = month_number(_text(named, "month")) or month
    entry.venue = plain(_text(named, "journal", "venue", "booktitle", "container-title", "publication"))
    entry.volume, entry.issue = _text(named, "volume"), _text(named, "issue", "number")
    entry.pages, entry.publisher = tidy.pages(_text(named, "pages", "page")), plain(_text(named, "publisher"))
    entry.abstract = plain(_text(named, "abstract", "description"))
    entry.keywords = tidy.split_list(_known(named.get("keywords") or named.get("keyword")))
    entry.tags = tidy.split_list(_known(named.get("tags") or named.get("categories")))
    entry.language = _text(named, "lang", "language")
    entry.kind = _text(named, "type", "kind")
    entry.identifiers = _identifiers(named)


def listed(value: Any) -> list[str]:
    """One name or several, as a list."""
    return tidy.lines(cast("list[Any]", value)) if isinstance(value, list) else tidy.lines([value])


def plain(text: str) -> str:
    """Markdown of one line as the words it shows."""
    if "\\" in text or "$" in text:
        text = decode_latex(text)
    text = _LINK.sub(r"\1", _FOOTNOTE.sub("", text))
    # In a long text of stars each would be searched for its partner to the end.
    return tidy.line(_EMPHASIS.sub(r"\2", text) if len(text) < _MAX_EMPHASISED else text)


def _identifiers(named: dict[str, Any]) -> dict[str, str]:
    found = {
        "doi": _text(named, "doi"),
        "arxiv": _text(named, "arxiv", "arxiv-id", "arxivid", "eprint"),
        "pmid": _text(named, "pmid"),
        "pmcid": _text(named, "pmcid"),
        "isbn": _text(named, "isbn"),
        "bibkey": _text(named, "bibkey", "citekey", "citation-key", "cite-key", "bibtex-key"),
        "url": _text(named, "url", "link"),
    }
    return {scheme: value for scheme, value in found.items() if value}


def _institutions(named: dict[str, Any], authors: Any) -> list[str]:
    names = _names(named.get("affiliations") or named.get("affiliation") or named.get("institutions"))
    if isinstance(authors, list):
        for author in cast("list[Any]", authors):
            if isinstance(author, dict):
                of_author = cast("dict[str, Any]", author)
                names += _names(of_author.get("affiliation") or of_author.get("affiliations"))
    # Authors mostly refer to the list by number, or by numbers.
    return list(dict.fromkeys(name for name in names if not name.replace(",", "").replace(" ", "").isdigit()))


def _names(value: Any) -> list[str]:
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    names: list[str] = []
    for item in items:
        if isinstance(item, dict):
            item = cast("dict[str, Any]", item).get("name")  # noqa: PLW2901
        if isinstance(item, str) and (name := plain(item)):
            names.append(name)
    return names


def _person(name: str) -> str:
    return plain(name).strip(" ,*")


def _known(value: Any) -> Any:
    return None if isinstance(value, str) and value.strip().lower() in _NOTHING else value


def _text(named: dict[str, Any], *names: str) -> str:
    for name in names:
        value = named.get(name)
        if isinstance(value, list):
            value = next(iter(cast("list[Any]", value)), None)
        if isinstance(value, str) and value.strip().lower() not in _NOTHING:
            return tidy.line(value)
    return ""


def _simple_lines(yaml_text: str) -> dict[str, Any]:
    return {name: value.strip().strip("'\"") for name, value in _SIMPLE_LINE.findall(yaml_text)}
