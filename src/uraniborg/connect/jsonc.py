"""Edit JSON with comments: set or remove one member and leave every other character as it is."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from uraniborg.kernel.errors import InvalidInput

_BLANK: Final = re.compile(r"(?:[ \t\r\n\ufeff]|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR: Final = re.compile(r"true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_MOST_NESTED: Final = 200


class InvalidJsonc(InvalidInput):
    code = "invalid_client_file"


@dataclass(frozen=True)
class _JsoncValue:
    """A value of the document and the positions of its first character and of the one after its last."""

    start: int
    end: int
    content: Any
    members: "tuple[_Member, ...] | None" = None
    """The members of an object; None for other values."""

    def find_member(self, key: str) -> "_Member | None":
        """Return the last member with this key, which is the one that JSON readers use."""
        return next((member for member in reversed(self.members or ()) if member.key == key), None)


@dataclass(frozen=True)
class _Member:
    key: str
    start: int
    value: _JsoncValue


def parse_jsonc(text: str) -> Any:
    """Return the value of a JSON text that may have comments and trailing commas. Raise InvalidJson."""
    return _JsoncParser(text).parse_document().content


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with `value` at `path`; objects on the way are created. Raise InvalidJson.

    Comments, order and indentation of everything else stay. An empty text counts as an empty object.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    newline = "\r\n" if "\r\n" in text else "\n"
    container = _JsoncParser(text).parse_document()
    depth = 0
    while True:
        if container.members is None:
            where = ".".join(path[:depth]) or "the document"
            raise InvalidJsonc(f"{where} is not a JSON object.", hint="Correct the file, or remove that member.")
        member = container.find_member(path[depth])
        if member is None:
            break
        if depth == len(path) - 1:
            return _replace_value(text, member, value, newline)
        container, depth = member.value, depth + 1
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    return _insert_member(text, container, path[depth], value, newline)


def remove_member(text: str, path: Sequence[str]) -> str:
    """Return the text without the member at `path`; the same text if there is none. Raise InvalidJson."""
    if not text.strip("\ufeff \t\r\n"):
        return text
    container = _JsoncParser(text).parse_document()
    for key in path[:-1]:
        member = container.find_member(key)
        if member is None:
            return text
        container = member.value
    members = container.members or ()
    member = container.find_member(path[-1])
    if member is None:
        return text
    index = members.index(member)
    end = _skip_comma(text, member.value.end)
    shortened = _remove_span(text, member.start, end)
    if index and end == member.value.end:  # the last member has no comma; the one before it must not keep its own
        comma = _skip_comma(text, members[index - 1].value.end) - 1
        shortened = shortened[:comma] + shortened[comma + 1 :]
    return shortened


def _remove_span(text: str, start: int, end: int) -> str:
    """Return the text without the span, and without its lines if nothing else is on them."""
    line_start = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*(\r?\n)?").match(text, end)
    if rest and rest.group(1) and not text[line_start:start].strip():
        return text[:line_start] + text[rest.end() :]
    return text[:start] + (text[rest.end(0) if rest and not rest.group(1) else end :])


def _skip_comma(text: str, position: int) -> int:
    """Return the position after the comma that follows `position`, or `position` if none does."""
    blank = _BLANK.match(text, position)
    end = blank.end() if blank else position
    return end + 1 if text[end : end + 1] == "," else position


def _replace_value(text: str, member: _Member, value: Any, newline: str) -> str:
    if member.value.content == value:
        return text
    line_start = text.rfind("\n", 0, member.start) + 1
    prefix = text[line_start : member.start]
    formatted = _format_value(value, _find_indent_unit(text), prefix if not prefix.strip() else "", newline)
    return text[: member.value.start] + formatted + text[member.value.end :]


def _insert_member(text: str, container: _JsoncValue, key: str, value: Any, newline: str) -> str:
    unit = _find_indent_unit(text)
    members = container.members or ()
    line_start = text.rfind("\n", 0, container.start) + 1
    outer = re.compile(r"[ \t]*").match(text, line_start)
    margin = outer.group() if outer else ""
    if not members:
        inner = margin + unit
        formatted = f"{json.dumps(key, ensure_ascii=False)}: {_format_value(value, unit, inner, newline)}"
        inside = text[container.start + 1 : container.end - 1].rstrip()
        if inside:
            inside = newline + inner + inside.strip()
        filled = f"{{{inside}{newline}{inner}{formatted}{newline}{margin}}}"
        return text[: container.start] + filled + text[container.end :]
    last = members[-1]
    last_line = text.rfind("\n", 0, last.start) + 1
    before = text[last_line : last.start]
    has_own_line = not before.strip()
    inner = before if has_own_line else margin + unit
    formatted = f"{json.dumps(key, ensure_ascii=False)}: {_format_value(value, unit, inner, newline)}"
    end = _skip_comma(text, last.value.end)
    has_comma = end != last.value.end
    if not has_own_line and not has_comma:
        return f"{text[:end]}, {formatted}{text[end:]}"
    comment = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)?(?=[ \t]*(?:\r?\n|$))").match(text, end)
    line_end = comment.end() if comment else end
    comma_before, comma_after = ("", ",") if has_comma else (",", "")  # a trailing comma stays one
    return f"{text[:end]}{comma_before}{text[end:line_end]}{newline}{inner}{formatted}{comma_after}{text[line_end:]}"


def _find_indent_unit(text: str) -> str:
    """Return the indentation of the first indented line, or two spaces."""
    found = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    return found.group(1) if found else "  "


def _format_value(value: Any, unit: str, margin: str, newline: str) -> str:
    formatted = json.dumps(value, indent=unit, ensure_ascii=False)
    return formatted.replace("\n", newline + margin)


class _JsoncParser:
    """Parses one document and keeps the position of every value."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._depth = 0

    def parse_document(self) -> _JsoncValue:
        value = self._parse_value()
        self._skip_blanks_and_comments()
        if self._position < len(self._text):
            raise self._make_error("there is text after the end of the document")
        return value

    def _parse_value(self) -> _JsoncValue:
        self._skip_blanks_and_comments()
        start = self._position
        first = self._text[start : start + 1]
        if first in ("{", "["):
            self._depth += 1
            if self._depth > _MOST_NESTED:
                raise self._make_error("the values are nested too deeply")
            value = self._parse_object() if first == "{" else self._parse_array()
            self._depth -= 1
            return value
        if first == '"':
            content = self._parse_string()
            return _JsoncValue(start, self._position, content)
        scalar = _SCALAR.match(self._text, start)
        if scalar is None:
            raise self._make_error("a value is missing or misspelt")
        self._position = scalar.end()
        return _JsoncValue(start, self._position, json.loads(scalar.group()))

    def _parse_object(self) -> _JsoncValue:
        start = self._position
        self._position += 1
        members: list[_Member] = []
        while not self._skip_closing_mark("}"):
            key_start = self._position
            if self._text[key_start : key_start + 1] != '"':
                raise self._make_error("a name in double quotes is missing")
            key = self._parse_string()
            self._skip_blanks_and_comments()
            if self._text[self._position : self._position + 1] != ":":
                raise self._make_error("a colon is missing")
            self._position += 1
            members.append(_Member(key, key_start, self._parse_value()))
            self._skip_separator("}")
        content = {member.key: member.value.content for member in members}
        return _JsoncValue(start, self._position, content, tuple(members))

    def _parse_array(self) -> _JsoncValue:
        start = self._position
        self._position += 1
        items: list[Any] = []
        while not self._skip_closing_mark("]"):
            items.append(self._parse_value().content)
            self._skip_separator("]")
        return _JsoncValue(start, self._position, items)

    def _parse_string(self) -> str:
        found = _STRING.match(self._text, self._position)
        if found is None:
            raise self._make_error("a text has no end")
        try:
            content: str = json.loads(found.group(), strict=False)
        except ValueError:
            raise self._make_error("a text has an invalid escape") from None
        self._position = found.end()
        return content

    def _skip_closing_mark(self, mark: str) -> bool:
        """Skip blanks and comments, and the closing mark if it is next; return whether it was."""
        self._skip_blanks_and_comments()
        if self._text[self._position : self._position + 1] != mark:
            return False
        self._position += 1
        return True

    def _skip_separator(self, mark: str) -> None:
        """Skip the comma after a member. Raise InvalidJson if neither it nor the closing mark follows."""
        self._skip_blanks_and_comments()
        found = self._text[self._position : self._position + 1]
        if found == ",":
            self._position += 1
        elif found != mark:
            raise self._make_error(f"a comma or {mark} is missing")

    def _skip_blanks_and_comments(self) -> None:
        blank = _BLANK.match(self._text, self._position)
        if blank:
            self._position = blank.end()

    def _make_error(self, reason: str) -> InvalidJsonc:
        line = self._text.count("\n", 0, self._position) + 1
        column = self._position - self._text.rfind("\n", 0, self._position)
        return InvalidJsonc(f"Not valid JSON: {reason} at line {line}, column {column}.", hint="Correct that line.")
