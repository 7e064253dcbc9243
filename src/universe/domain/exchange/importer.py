"""Import systems from any supported format, which is recognised by its content."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from universe.domain.exchange.body_table import import_body_table, is_body_table
from universe.domain.exchange.exoplanet_archive import ArchiveOptions, Circumbinary, OmegaOf, import_archive_table
from universe.domain.exchange.horizons import import_horizons, is_horizons_text
from universe.domain.exchange.imported_systems import ImportReport
from universe.domain.exchange.tables import (
    MAX_BYTES,
    ParsedTable,
    decode_text,
    make_too_large_error,
    parse_csv,
    parse_json_rows,
    parse_votable,
)
from universe.domain.exchange.vector_table import VectorUnits, import_vector_table, is_vector_table
from universe.errors import ImportRefused

ImportFormat = Literal["archive", "bodies", "vectors", "horizons"]
FORMATS: Final[tuple[ImportFormat, ...]] = ("archive", "bodies", "vectors", "horizons")
_SHOWN: Final = 12


@dataclass(frozen=True)
class ImportOptions:
    """The format, if it must not be recognized, and the meaning of columns that do not state it."""

    format: ImportFormat | None = None
    omega_of: OmegaOf = "star"
    circumbinary: Circumbinary = "refuse"
    units: VectorUnits | None = None


def import_systems(contents: Sequence[bytes], options: ImportOptions | None = None) -> ImportReport:
    """Return the systems in these files. Several files must all be answers of Horizons. Raise ImportRefused."""
    options = options or ImportOptions()
    if sum(map(len, contents)) > MAX_BYTES:
        raise make_too_large_error(sum(map(len, contents)))
    texts = [decode_text(content) for content in contents]
    if options.format == "horizons" or (options.format is None and all(is_horizons_text(text) for text in texts)):
        return import_horizons(texts)
    if len(texts) != 1:
        raise ImportRefused(
            "Several files can be imported together only from Horizons.", hint="Import the files one by one."
        )
    table, encoding = _read_table(contents[0], texts[0])
    if not table.rows and not table.problems:
        raise ImportRefused("The table has no rows.", hint="The query may have found nothing.", notes=table.notes)
    return _import_table(table, encoding, options)


def _read_table(content: bytes, text: str) -> tuple[ParsedTable, str]:
    start = text.lstrip()[:1]
    if start == "<":
        return parse_votable(content), "VOTable"
    if start in ("[", "{"):
        return parse_json_rows(content), "JSON"
    if "ORA-" in text[:2_000] or text.lstrip().upper().startswith("ERROR"):
        raise ImportRefused(
            f"The service reported an error instead of a table: {' '.join(text.split())[:300]}",
            hint="Correct the query.",
        )
    if start == "\\":
        raise ImportRefused(
            "The table is in the IPAC format, which is not read.", hint="Ask for format=csv or votable."
        )
    return parse_csv(text), "CSV"


def _import_table(table: ParsedTable, encoding: str, options: ImportOptions) -> ImportReport:
    chosen = options.format
    if chosen == "archive" or (chosen is None and "pl_name" in table.units):
        if not table.has_columns("pl_name"):
            raise ImportRefused("The table has no column pl_name.", hint="Select pl_name and hostname as well.")
        return import_archive_table(table, ArchiveOptions(options.omega_of, options.circumbinary))
    if chosen == "vectors" or (chosen is None and is_vector_table(table)):
        if not is_vector_table(table):
            raise ImportRefused(
                "The table has no positions, velocities and masses.", hint="It needs m, x, y, z, vx, vy and vz."
            )
        return import_vector_table(table, options.units)
    if chosen == "bodies" or is_body_table(table):
        return import_body_table(table, f"bodies {encoding}")
    listed = ", ".join(list(table.units)[:_SHOWN]) + (", …" if len(table.units) > _SHOWN else "")
    raise ImportRefused(
        f"The columns of the table are not those of a planetary system: {listed[:400]}.",
        hint="Supported are tables of the NASA Exoplanet Archive (pl_name, hostname, pl_orbper, st_mass, …), tables of "
        "bodies (name, parent, mass_solar, period_days, …), tables of states (m, x, y, z, vx, vy, vz), and answers of "
        "JPL Horizons.",
        columns=list(table.units)[:100],
    )
