"""Small tables in the format of the NASA Exoplanet Archive, with all columns that an import reads."""

from typing import Any, Final

COLUMNS: Final = (
    *("pl_name", "hostname", "cb_flag", "pl_controv_flag", "pl_orbper", "pl_orbpererr1", "pl_orbpererr2"),
    *("pl_orbperlim", "pl_orbsmax", "pl_orbeccen", "pl_orbeccenlim", "pl_orbincl", "pl_orblper", "pl_tranmid"),
    *("pl_orbtper", "pl_bmasse", "pl_bmasselim", "pl_bmassprov", "pl_rade", "st_mass", "st_rad", "st_teff", "st_lum"),
    *("sy_dist", "ra", "dec", "pl_refname", "st_refname"),
)
REFERENCE: Final = '<a refstr=DOE_ET_AL__2020 href="https://example.org/doe" target=ref>Doe et al. 2020</a>'
PLANET: Final[dict[str, Any]] = {
    "pl_name": "Hven-1 b",
    "hostname": "Hven-1",
    "cb_flag": 0,
    "pl_orbper": 10.0,
    "pl_orbpererr1": 0.1,
    "pl_orbpererr2": -0.2,
    "pl_orbperlim": 0,
    "pl_orbeccen": 0.1,
    "pl_orbincl": 89.5,
    "pl_orblper": 30.0,
    "pl_tranmid": 2_459_000.25,
    "pl_bmasse": 3.0,
    "pl_bmassprov": "Mass",
    "pl_rade": 1.5,
    "st_mass": 0.8,
    "st_rad": 0.75,
    "st_teff": 5_000,
    "st_lum": -0.5,
    "sy_dist": 12.5,
    "pl_refname": REFERENCE,
}


def make_archive_csv(*rows: dict[str, Any], columns: tuple[str, ...] = COLUMNS) -> bytes:
    """Return rows as the archive writes them: texts in quotes, numbers bare, empty for null."""

    def write(value: Any) -> str:
        if value is None:
            return ""
        return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else repr(value)

    lines = [",".join(columns), *(",".join(write(row.get(name)) for name in columns) for row in rows)]
    return "\n".join(lines).encode() + b"\n"
