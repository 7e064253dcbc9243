"""Check or clean text and JSON from outside once, where they enter, and the cells of CSV files, where they leave.

Inside, every text can be encoded as UTF-8. Only a path may still have surrogates, which stand for the bytes of a file
name in another encoding; `display_path` makes a text of it. A cell that a spreadsheet would run gets an apostrophe.
"""

import json
import math
import re
from collections.abc import Iterable
from typing import Any, Final, cast

_SURELY_SHALLOW: Final = 250
"""A text with fewer opening brackets is not nested too deeply."""
_LONG_NUMBER: Final = re.compile(rb"(?<![\w.])\d{19}")
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_MANY_DIGITS: Final = b"0" * 19
"""A search for these digits takes a hundredth of the time of the regular expression."""


def is_encodable(text: str) -> bool:
    """Return False for text with lone surrogates, as in a file name of another encoding: UTF-8 cannot encode them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def make_encodable(text: str) -> str:
    """Return `text` with U+FFFD for lone surrogates."""
    return text if is_encodable(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def make_all_encodable(value: Any) -> Any:
    """Return a value in which all texts, those in lists and objects too, have U+FFFD for lone surrogates.

    A value without any is returned as it is, however deeply it is nested.
    """
    return value if _are_all_encodable(value) else _copy_encodable(value)


def _are_all_encodable(value: Any) -> bool:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if not is_encodable(one):
                return False
        elif isinstance(one, list):
            waiting += cast("list[Any]", one)
        elif isinstance(one, dict):
            for name, item in cast("dict[Any, Any]", one).items():
                waiting += (name, item)
    return True


def _copy_encodable(value: Any) -> Any:
    if isinstance(value, str):
        return make_encodable(value)
    if isinstance(value, list):
        return [_copy_encodable(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {_copy_encodable(name): _copy_encodable(item) for name, item in items}
    return value


LOSSLESS: Final = "surrogateescape"
"""How bytes that are not UTF-8 are decoded and encoded without loss."""


def decode_lossless(data: bytes) -> str:
    """Return bytes of any encoding as text, to search or mask it; `encode_lossless` returns the same bytes."""
    return data.decode("utf-8", LOSSLESS)


def encode_lossless(text: str) -> bytes:
    """Return the bytes of a text of `decode_lossless`."""
    return text.encode("utf-8", LOSSLESS)


def has_long_number(data: bytes) -> bool:
    """Return True for JSON with a whole number that orjson would read as a float."""
    return _MANY_DIGITS in data.translate(_DIGITS) and _LONG_NUMBER.search(data) is not None


def parse_json(data: bytes | str) -> Any:
    """Return the value of JSON from outside, with all digits of whole numbers.

    Raise JSONDecodeError, also for NaN, numbers beyond the range of floats, lone surrogates, and lists and objects that
    are nested deeper than any writer of JSON can write.
    """
    import orjson  # most commands read no JSON from outside

    encoded = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    value = orjson.loads(encoded)
    if encoded.count(b"[") + encoded.count(b"{") >= _SURELY_SHALLOW:
        try:
            orjson.dumps(value)
        except orjson.JSONEncodeError:
            raise _make_depth_error() from None
    return json.loads(encoded) if has_long_number(encoded) else value


def parse_lenient_json(data: bytes | str) -> Any:
    """Return the value of JSON that a program with looser rules may have written.

    NaN and infinite numbers become null; lone surrogates, and bytes that are not UTF-8, become U+FFFD. Raise
    JSONDecodeError.
    """
    try:
        return parse_json(data)
    except ValueError:
        text = (data if isinstance(data, str) else data.decode("utf-8", "replace")).lstrip("\ufeff")
    try:
        value = json.loads(text, parse_constant=lambda _: None, parse_float=_parse_finite_or_null)
        return parse_json(make_encodable(json.dumps(value, ensure_ascii=False)))
    except RecursionError:
        raise _make_depth_error() from None


def _parse_finite_or_null(written: str) -> float | None:
    number = float(written)
    return number if math.isfinite(number) else None


def _make_depth_error() -> json.JSONDecodeError:
    return json.JSONDecodeError("it is nested too deeply", "", 0)


_FORMULA: Final = re.compile(r"'*(?:[\t\r]|\s*[=+\-@＝＋－＠])")


def neutralize_formula(cell: Any) -> Any:
    """Return the cell, with an apostrophe before text that a spreadsheet would run. Numbers stay as they are."""
    return f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell


def neutralize_formulas(cells: Iterable[Any]) -> list[Any]:
    """Return a row with every formula as text."""
    return list(map(neutralize_formula, cells))


def restore_cell(cell: str) -> str:
    """Return the text that `neutralize_formula` wrote."""
    return cell[1:] if cell.startswith("'") and _is_formula(cell[1:]) else cell


def _is_formula(text: str) -> bool:
    if not _FORMULA.match(text):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False
