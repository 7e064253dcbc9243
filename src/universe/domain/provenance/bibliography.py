"""List the papers that the bodies of a universe cite, and declare the replies about citations and origins of values.

Bodies can come from any program, so `sources` is not trusted: an invalid source is left out and reported.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from uraniborg.kernel.bibliography.plain_text import clean_names, to_one_line
from uraniborg.kernel.bibliography.references import Reference
from uraniborg.kernel.json_values import Json
from uraniborg.kernel.shared_fields import ActorFields

_TEXTS: Final = ("title", "venue", "doi", "arxiv", "url")
_MOST_NAMES: Final = 20
_NOT_IN_KEY: Final = re.compile(r"[^a-z0-9_.:+-]+")


@dataclass(slots=True)
class CitedSource:
    """A paper, and the fields that each body which cites it takes from it."""

    id: str
    title: str = ""
    authors: list[str] = field(default_factory=list[str])
    year: int | None = None
    venue: str = ""
    doi: str = ""
    arxiv: str = ""
    url: str = ""
    uses: list[tuple[str, tuple[str, ...]]] = field(default_factory=list[tuple[str, tuple[str, ...]]])


def collect_cited_sources(
    stars: Mapping[str, Mapping[str, Any]], *, notes: list[str] | None = None
) -> list[CitedSource]:
    """Return the sources that bodies cite, each once, in the order of their first use. Does not raise.

    Of two sources with one id the first counts. Append a note to `notes` for everything that is left out.
    """
    problems: list[str] = [] if notes is None else notes
    found: dict[str, CitedSource] = {}
    for body_id, body in stars.items():
        for path, entry in _list_source_entries(body.get("sources"), body_id, problems):
            source = _parse_source(entry, path, problems)
            if source is None or entry.get("fields") == []:  # it supports no field any more
                continue
            known = found.setdefault(source.id, source)
            if known is not source and _get_comparable_facts(known) != _get_comparable_facts(source):
                problems.append(
                    f"{path} differs from the first source with the id '{source.id[:80]}': the first counts."
                )
            name = body.get("name")
            fields = tuple(_parse_texts(entry, "fields", path, problems))
            known.uses.append((name if isinstance(name, str) and name else body_id, fields))
    return list(found.values())


def format_bibtex(sources: Iterable[CitedSource]) -> str:
    """Return one BibTeX entry per source, separated by blank lines; no sources give an empty string.

    A source with a venue is an `@article`, any other a `@misc`. Keys are the ids in ASCII, no two the same; `note`
    lists what was taken from the source. Does not raise: any text stays inside its field.
    """
    from uraniborg.kernel.bibliography.reference_writers import write_bibtex  # imports bibtexparser and pylatexenc

    keys: set[str] = set()
    references = [_make_reference(source, _make_and_record_unique_key(source.id, keys)) for source in sources]
    return f"{write_bibtex(references, unknown_author='', names_have_commas=True)}\n" if references else ""


def _list_source_entries(listed: Any, body_id: str, problems: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if listed is None:
        return
    if not isinstance(listed, list):
        problems.append(f"{body_id[:80]}.sources is not a list and was left out.")
        return
    for index, entry in enumerate(cast("list[Any]", listed)):
        path = f"{body_id[:80]}.sources.{index}"
        if isinstance(entry, Mapping):
            yield path, cast("Mapping[str, Any]", entry)
        else:
            problems.append(f"{path} is not an object and was left out.")


def _parse_source(entry: Mapping[str, Any], path: str, problems: list[str]) -> CitedSource | None:
    source_id = entry.get("id")
    if not isinstance(source_id, str) or not source_id.strip():
        problems.append(f"{path} has no id and was left out.")
        return None
    source = CitedSource(source_id, authors=_parse_texts(entry, "authors", path, problems))
    for name in _TEXTS:
        value = entry.get(name)
        if isinstance(value, str):
            setattr(source, name, value)
        elif value is not None:
            problems.append(f"{path}.{name} is not text and was left out.")
    year = entry.get("year")
    if isinstance(year, int) and not isinstance(year, bool):
        source.year = year
    elif year is not None:
        problems.append(f"{path}.year is not an integer and was left out.")
    return source


def _parse_texts(entry: Mapping[str, Any], name: str, path: str, problems: list[str]) -> list[str]:
    value = entry.get(name)
    if value is None:
        return []
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    texts = [item for item in items if isinstance(item, str)]
    if not isinstance(value, list) or len(texts) < len(items):
        problems.append(f"{path}.{name} is not a list of texts; items that are not text were left out.")
    return texts


def _get_comparable_facts(source: CitedSource) -> tuple[object, ...]:
    return (source.title, source.authors, source.year, source.venue, source.doi, source.arxiv, source.url)


def _make_reference(source: CitedSource, key: str) -> Reference:
    authors, venue = clean_names(source.authors), to_one_line(source.venue)
    has_more_authors = len(authors) > 1 and authors[-1].lower() == "others"  # BibTeX's et al.
    return Reference(
        key=key,
        kind="article" if venue else "other",
        title=to_one_line(source.title) or to_one_line(source.id),
        authors=authors[:-1] if has_more_authors else authors,
        has_more_authors=has_more_authors,
        year=source.year,
        venue=venue,
        doi=to_one_line(source.doi).replace(" ", "%20"),
        url=to_one_line(source.url).replace(" ", "%20") if source.url.startswith(("https://", "http://")) else "",
        arxiv=to_one_line(source.arxiv).replace(" ", "%20"),
        note=to_one_line(_describe_uses(source.uses)),
    )


def _describe_uses(uses: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    names_by_fields: dict[tuple[str, ...], dict[str, None]] = {}
    for name, fields in uses:
        names_by_fields.setdefault(fields, {})[name] = None
    parts: list[str] = []
    for fields, named in names_by_fields.items():
        names = list(named)
        more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        parts.append((f"{', '.join(fields)} of " if fields else "") + ", ".join(names[:_MOST_NAMES]) + more)
    return f"Used for {'; '.join(parts)}" if parts else ""


def _make_and_record_unique_key(source_id: str, used_keys: set[str]) -> str:
    """Return the id in ASCII, with a number if the key is taken, and add it to `taken`."""
    folded = unicodedata.normalize("NFKD", source_id).casefold()
    plain = _NOT_IN_KEY.sub("-", "".join(char for char in folded if not unicodedata.combining(char))).strip("-")[:60]
    key = plain = plain or "source"
    number = 1
    while key in used_keys:
        number += 1
        key = f"{plain}-{number}"
    used_keys.add(key)
    return key


Status = Literal["cited", "supported", "unverified claim", "computed", "set", "without source"]


class Publication(TypedDict):
    """A publication that a body cites."""

    id: str
    title: NotRequired[Json]
    authors: NotRequired[Json]
    year: NotRequired[Json]
    venue: NotRequired[Json]
    doi: NotRequired[Json]
    arxiv: NotRequired[Json]
    url: NotRequired[Json]
    computed: NotRequired[Json]
    shortCitation: Annotated[str, Field(description="Its authors and year in short.")]


class ValueSource(Publication):
    """A publication of one value: the location of the value in it, and how the value follows from what it states."""

    location: Json
    conversion: str | None
    status: str
    reason: str | None
    isChecked: bool
    dataFile: NotRequired[str]
    note: NotRequired[str | None]


class SettingCommand(TypedDict):
    """The command that set a value, as far as it was recorded."""

    version: NotRequired[Json]
    universe: NotRequired[Json]
    reason: NotRequired[Json]
    imported: NotRequired[Json]
    author: Json
    actor: NotRequired[ActorFields | None]
    at: NotRequired[str]
    type: NotRequired[str]


class ValueBrief(TypedDict):
    """A value with its unit, its status and the ids of its sources."""

    value: Json
    unit: str
    status: Status
    mark: Annotated[str, Field(description="The note beside the value; empty if it has a source.")]
    sources: list[str]


class BodyOrigins(TypedDict):
    """The values of a body that have, or had, a source."""

    body: str
    name: str
    fields: dict[str, ValueBrief]
    sources: list[Publication]


class Chain(TypedDict):
    """The origin of a value of a body."""

    field: str
    value: Json
    unit: str
    status: Status
    mark: str
    sources: list[ValueSource]
    command: SettingCommand | None
    withdrawn: NotRequired[Json]
    computed: "NotRequired[Computation]"


Computation = TypedDict("Computation", {"how": str, "from": list[Chain], "masses": dict[str, ValueBrief]})
Computation.__doc__ = "The rule of a computed value, and the values that it is computed from."


class ValueOrigin(Chain):
    """The origin of a value, with its universe and body."""

    universe: str
    version: int
    body: str
    name: str


class Citations(TypedDict):
    """The bibliography of a universe."""

    sources: list[CitedSource]
    bibtex: str
