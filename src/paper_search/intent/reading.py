"""What was read of a text: each reader cuts out the words that it understands and leaves the rest to the next."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from paper_search.models import IntentType
from uraniborg.kernel.phrase_files import cut_span
from uraniborg.kernel.years.reading import read_years

Limits = dict[str, int | str | None]

describe_author = "“{}” was read as an author.".format
describe_venue = "“{}” was read as a journal or conference.".format
describe_exclusion = "Papers about “{}” are excluded.".format
describe_preference = (
    "“{}” was read as a preference: papers that meet it rank higher; the others stay in the result.".format
)


@dataclass(slots=True)
class Reading:
    """The rest of a text, and what was read of it; quoted phrases stay placeholders."""

    rest: str
    year_from: int | None = None
    year_to: int | None = None
    language: str | None = None
    max_results: int | None = None
    purpose: IntentType = IntentType.METHOD
    authors: list[str] = field(default_factory=list[str])
    venues: list[str] = field(default_factory=list[str])
    excluded: list[str] = field(default_factory=list[str])
    wishes: list[str] = field(default_factory=list[str])
    """The preferences as written."""
    preferences: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    def cut(self, start: int, end: int) -> None:
        self.rest = cut_span(self.rest, start, end)

    def take(self, names: Iterable[str], into: list[str], start: int, end: int) -> None:
        """Add names to one of the lists, each once, and cut out the words that name them."""
        into += [name for name in names if name not in into]
        self.cut(start, end)

    def read_years(self, today: date) -> None:
        """Read the years of publication that the text asks for."""
        years = read_years(self.rest, today)
        self.rest, self.year_from, self.year_to = years.rest, years.year_from, years.year_to
        self.notes += years.notes

    @property
    def limits(self) -> Limits:
        """The limits that the text states."""
        names = ("year_from", "year_to", "language", "max_results")
        return {name: value for name in names if (value := getattr(self, name)) is not None}
