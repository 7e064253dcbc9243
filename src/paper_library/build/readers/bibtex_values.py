"""The fields of one BibTeX entry: names and values, macros expanded, pieces joined."""

import re

_NAME = re.compile(r'[\s,]*([^\s,={}"#]+(?:[ \t]+[^\s,={}"#]+)*)\s*=\s*')
_NUMBER_OR_MACRO = re.compile(r'[^,#"{}\n]*')
_JOIN = re.compile(r"\s*#\s*")
_QUOTED_MARK = re.compile(r'[{}"]')
_MAX_VALUE_CHARS = 10_000_000


def fields_of(body: str, position: int, macros: dict[str, str], braces: re.Pattern[str]) -> dict[str, str]:
    """The fields from a position on, names in lower case. Of a repeated field the first that says something counts."""
    fields: dict[str, str] = {}
    while position < len(body):
        name = _NAME.match(body, position)
        if name is None:
            comma = body.find(",", position)
            if comma < 0:
                break
            position = comma + 1
            continue
        value, position = _value(body, name.end(), macros, braces)
        key = name[1].lower()
        if not fields.get(key):
            fields[key] = value
    return fields


def _value(body: str, position: int, macros: dict[str, str], braces: re.Pattern[str]) -> tuple[str, int]:
    pieces: list[str] = []
    size = 0
    while True:
        piece, position = _piece(body, position, macros, braces)
        size += len(piece)
        if size <= _MAX_VALUE_CHARS:
            pieces.append(piece)
        join = _JOIN.match(body, position)
        if join is None:
            return "".join(pieces), position
        position = join.end()


def _piece(body: str, position: int, macros: dict[str, str], braces: re.Pattern[str]) -> tuple[str, int]:
    opening = body[position : position + 1]
    if opening == "{":
        end = _closing_brace(body, position, braces)
        return body[position + 1 : end], end + 1
    if opening == '"':
        end = _closing_quote(body, position)
        return body[position + 1 : end], end + 1
    bare = _NUMBER_OR_MACRO.match(body, position)
    assert bare is not None
    word = bare[0].strip()
    return macros.get(word.lower(), word), bare.end()


def _closing_brace(body: str, position: int, braces: re.Pattern[str]) -> int:
    depth = 0
    for brace in braces.finditer(body, position):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return len(body)


def _closing_quote(body: str, position: int) -> int:
    depth = 0
    for mark in _QUOTED_MARK.finditer(body, position + 1):
        if mark[0] == '"':
            if depth <= 0:
                return mark.start()
        else:
            depth += 1 if mark[0] == "{" else -1
    return len(body)
