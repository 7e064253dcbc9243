"""Settings of the library."""

import pytest
from pydantic import ValidationError

from paper_library.config import LibraryConfig


@pytest.mark.parametrize(
    ("name", "smallest", "largest"),
    [
        ("port", 0, 65_535),
        ("workers", 1, 64),
        ("threads", 1, 256),
        ("body_limit", 1_000, 100_000_000),
    ],
)
def test_a_setting_accepts_both_of_its_bounds_and_nothing_beyond_them(name: str, smallest: int, largest: int) -> None:
    for value in (smallest, largest):
        assert getattr(LibraryConfig.model_validate({name: value}), name) == value
    for value in (smallest - 1, largest + 1):
        with pytest.raises(ValidationError, match=name):
            LibraryConfig.model_validate({name: value})
