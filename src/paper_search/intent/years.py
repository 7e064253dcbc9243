"""Years of publication in a request, read by the grammar of all parts."""

from uraniborg.kernel.years.reading import (
    EARLIEST_YEAR,
    RECENT_YEARS,
    YearReading,
    describe_years,
    is_publication_year,
    read_years,
    sort_years,
)

__all__ = [
    "EARLIEST_YEAR",
    "RECENT_YEARS",
    "YearReading",
    "describe_years",
    "is_publication_year",
    "read_years",
    "sort_years",
]
