"""Report an import: systems with their states, rows that were skipped with the reason, and notes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from universe.domain.entities import Entity
from universe.domain.state import Plain
from universe.exchange.errors import ImportRefused
from universe.exchange.replies import ImportFacts, SkippedRow
from universe.nbody.text_formats import join_words
from uraniborg.kernel.text import plural

_LISTED: Final = 200
"""The most skipped rows and notes in a reply; all are counted."""
_EXAMPLES: Final = 3
_ASSUMED: Final = {
    "kepler.eccentricity": "The eccentricity of {} is not known: the orbits were taken as circles.",
    "kepler.inclination": "The inclination of {} is not known: the orbits were put into {plane}.",
    "kepler.longitudeOfAscendingNode": "The node of {} is not known and was set to 0.",
    "kepler.argumentOfPeriapsis": "The argument of periapsis of {} is not known and was set to 0.",
    "kepler.meanAnomaly": "The phase of {} is not known: the mean anomaly at time 0 was set to 0.",
    "mass": "The mass of {} is not known and was set to 0.",
}
"""What an import does about an unknown value, by its field."""
_MASS_IS: Final = {
    "minimum": "The mass of {} is a minimum, M sin i, and was taken as the mass.",
    "estimate": "The mass of {} is an estimate from the radius.",
}


@dataclass
class ImportedSystem:
    """One system: a star or a barycentre with its bodies, as the state of a universe."""

    name: str
    state: Plain
    rows: int = 0


@dataclass
class ImportReport:
    """The systems of a file, and everything that was left out or assumed."""

    format: str
    systems: list[ImportedSystem] = field(default_factory=list[ImportedSystem])
    skipped: list[SkippedRow] = field(default_factory=list[SkippedRow])
    notes: list[str] = field(default_factory=list[str])
    _noted: set[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._noted = set(self.notes)

    def skip(self, row: int | None, name: str, reason: str) -> None:
        """Record that a row, or a body without a row, was left out."""
        self.skipped.append({"row": row, "name": name[:200], "reason": reason})

    def note(self, text: str) -> None:
        """Record an assumption or a fact that the reader should know, once."""
        if text not in self._noted:
            self._noted.add(text)
            self.notes.append(text)

    def note_assumptions(self, plane: str = "the reference plane") -> None:
        """Note the values that the systems lack and what was taken instead, with the number of bodies and examples."""
        bodies = [body for system in self.systems for body in system.state["stars"].values()]
        names: dict[str, list[str]] = {}
        for body in bodies:
            physical = cast("Entity", body["physical"])
            unknown = cast("list[str]", physical.get("unknown") or [])
            texts = [text for field_name, text in _ASSUMED.items() if field_name in unknown]
            if "kepler.eccentricity" in unknown:  # a circle has no periapsis
                texts = [text for text in texts if text != _ASSUMED["kepler.argumentOfPeriapsis"]]
            texts += [text for kind, text in _MASS_IS.items() if physical.get("massIs") == kind]
            if physical.get("limits"):
                texts.append("Limits are not values, and those of {} were not used.")
            for text in texts:
                names.setdefault(text, []).append(str(body["name"]))
        for text in (*_ASSUMED.values(), *sorted(names)):
            if text in names:
                self.note(text.format(list_examples(names[text], "bodies"), plane=plane))

    def note_repeated_name(self, name: str, row: int, body_id: str, rows_of_names: dict[str, int]) -> None:
        """Note that the name is that of an earlier row. `rows_of_names` has the names of the rows up to this one."""
        first = rows_of_names.setdefault(name, row)
        if first != row:
            self.note(
                f"Row {row}: the name '{name[:60]}' is in row {first} already; both bodies were imported, this one as "
                f"'{body_id[:60]}'. If they are one body, remove one of the rows."
            )

    def require_systems(self) -> "ImportReport":
        """Return the report. Raise ImportRefused if there is no system."""
        if self.systems:
            return self
        first = self.skipped[0] if self.skipped else None
        reason = f" For example {first['name'] or 'row ' + str(first['row'])}: {first['reason']}." if first else ""
        raise ImportRefused(
            " ".join(
                [
                    f"No system can be imported: {plural(len(self.skipped), 'row was', 'rows were')} skipped.{reason}",
                    *self.notes[:1],
                ]
            ),
            hint="Correct the rows, or add the columns that are missing.",
            format=self.format,
            skipped=self.skipped[:_LISTED],
            skippedCount=len(self.skipped),
            notes=self.notes[:_LISTED],
        )

    def describe(self) -> ImportFacts:
        """Return the report as JSON values, without the states."""
        return {
            "format": self.format,
            "systems": [
                {"name": one.name, "bodies": len(one.state["stars"]), "rows": one.rows} for one in self.systems
            ],
            "skipped": self.skipped[:_LISTED],
            "skippedCount": len(self.skipped),
            "notes": self.notes[:_LISTED],
        }

    def merge_systems(self) -> Plain:
        """Return one state with all systems. Ids are unique over the whole report."""
        stars: dict[str, Entity] = {}
        for system in self.systems:
            stars.update(system.state["stars"])
        roots = [root for system in self.systems for root in system.state["rootIds"]]
        return {**self.systems[0].state, "stars": stars, "rootIds": roots}


def list_examples(names: Sequence[str], noun: str) -> str:
    """Return up to three names, with the number of all if there are more."""
    if len(names) <= _EXAMPLES:
        return join_words(names)
    return f"{len(names):,} {noun} ({', '.join(names[:_EXAMPLES])}, …)"
