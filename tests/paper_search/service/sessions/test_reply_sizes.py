"""Fields of replies, shortened until they fit."""

from typing import Any

from paper_search.service.reply_parts import count_json_bytes, shorten_to_fit


def test_fields_of_exactly_the_size_that_fits_stay_as_they_are() -> None:
    fields: dict[str, Any] = {"text": "x" * 1_000, "items": list(range(100))}
    size = count_json_bytes(fields)
    assert shorten_to_fit(fields, size) == fields
    assert shorten_to_fit(fields, size - 1)["shortened"] is True
