"""Resolve templates: text with templates becomes text or values. Refuse to use a truncated output as if complete."""

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from pflow.domain.template_references import (
    ABSENT,
    Literal,
    Scope,
    Template,
    TemplateReference,
    explain_missing_references,
    find_templates_and_escapes,
    format_reference_prefix,
    get_item,
)
from pflow.errors import NodeFailed, TemplateUnresolved

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject


_ITEM_CHARACTERS: Final = 32
"""For how many characters an item of a list or an object counts: it takes about as much room."""
MOST_CHARACTERS: Final = 64 * 1024 * 1024
"""The most characters and items that templates may insert."""


class Resolution:
    """Resolves values and records every reference without a value."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.missing: list[TemplateReference] = []
        self._size = 0
        self._sizes: dict[int, int] = {}
        self._inserted_values: list[Any] = []

    def resolve_value(self, value: Any) -> Any:
        """Return the value with each template replaced by its value."""
        if isinstance(value, str):
            return self.resolve_text(value) if "${" in value else value
        if isinstance(value, dict):
            return {key: self.resolve_value(item) for key, item in cast("JsonObject", value).items()}
        if isinstance(value, list):
            return [self.resolve_value(item) for item in cast("list[Any]", value)]
        return value

    def resolve_text(self, text: str) -> Any:
        """Return the value of a text: of any type if the text is a single template, else text."""
        pieces = find_templates_and_escapes(text)
        if len(pieces) == 1 and isinstance(only := pieces[0], Template) and (only.start, only.end) == (0, len(text)):
            return self._resolve_within_size_limit(only)
        parts: list[str] = []
        at = 0
        for piece in pieces:
            start = piece if isinstance(piece, int) else piece.start
            parts.append(text[at:start])
            if isinstance(piece, int):  # `$${`, which becomes `${`
                parts.append("${")
                at = piece + 3
            else:
                parts.append(format_as_text(self._resolve_within_size_limit(piece)))
                at = piece.end
        parts.append(text[at:])
        return "".join(parts)

    def resolve_template(self, template: Template) -> Any:
        """Return the first choice that exists and is not null, else null. Record missing references."""
        found: Any = ABSENT
        absent: list[TemplateReference] = []
        for choice in template.choices:
            found = choice.value if isinstance(choice, Literal) else self._follow_reference(choice)
            if found is ABSENT:
                absent.append(cast("TemplateReference", choice))
            elif found is not None:
                return found
        if found is ABSENT:
            self.missing += absent
            return None
        return found

    def resolve_reference_or_none(self, reference: TemplateReference) -> Any:
        """Return the value of a reference, or None."""
        found = self._follow_reference(reference)
        return None if found is ABSENT else found

    def raise_if_missing(self, **ids: Any) -> None:
        """Raise TemplateUnresolved if a reference was missing."""
        if not self.missing:
            return
        texts = list(dict.fromkeys(one.text for one in self.missing))
        explanation = explain_missing_references(self.missing, self._scope)
        raise TemplateUnresolved(texts, available=explanation.available, hint=explanation.hint, **ids)

    def _resolve_within_size_limit(self, template: Template) -> Any:
        """Return the value of a template, and bound the total size of all inserted values."""
        value = self.resolve_template(template)
        if not isinstance(value, (str, dict, list)):
            return value
        bounded = cast("Any", value)
        self._inserted_values.append(bounded)
        if len(self._inserted_values) == 2:  # a single value is as large as before
            self._size = _count_characters_and_items(self._inserted_values[0], self._sizes)
        if len(self._inserted_values) > 1:
            self._size += _count_characters_and_items(bounded, self._sizes)
        if self._size > MOST_CHARACTERS:
            raise NodeFailed(
                f"These templates put together more than {MOST_CHARACTERS:,} characters and items.",
                hint="Use each value once, use only a part of it, or write it to a file.",
            )
        return bounded

    def _follow_reference(self, reference: TemplateReference) -> Any:
        value = self._scope.get(reference.root)
        for depth, step in enumerate(reference.steps):
            if value is ABSENT or value is None:
                return ABSENT
            key = self._follow_reference(step) if isinstance(step, TemplateReference) else step
            raise_if_truncated(value, key, reference, depth)
            value = get_item(value, key)
        return value


def _count_characters_and_items(value: Any, sizes: dict[int, int]) -> int:
    """Return the number of characters and items of a value, counting repeated parts each time. `sizes` caches parts."""
    if isinstance(value, str):
        return len(value)
    waiting = [value]
    while waiting:
        one = waiting[-1]
        items = list(cast("JsonObject", one).values() if isinstance(one, dict) else cast("list[Any]", one))
        inner: list[Any] = [item for item in items if isinstance(item, (dict, list))]
        if unknown := [item for item in inner if id(item) not in sizes]:
            waiting += unknown
            continue
        texts = sum(len(item) for item in items if isinstance(item, str))
        sizes[id(waiting.pop())] = _ITEM_CHARACTERS * (1 + len(items)) + texts + sum(sizes[id(item)] for item in inner)
    return sizes[id(value)]


def format_as_text(value: Any) -> str:
    """Return a value as part of a text: empty for null, JSON for other types than text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return orjson.dumps(value, default=str).decode()
    except orjson.JSONEncodeError:
        return _format_unusual_value(value)


def _format_unusual_value(value: Any) -> str:
    """Return JSON of values that orjson refuses: integers beyond 64 bits, keys that are not text."""
    try:
        return json.dumps(value, default=str, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def iter_texts_and_numbers(value: Any, *, include_keys: bool = True) -> Iterator[str]:
    """Yield all texts and numbers in a value, as text, and with `include_keys` also the keys of objects."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            plain = cast("dict[Any, Any]", one)
            yield from map(str, plain if include_keys else ())
            waiting += plain.values()
        elif isinstance(one, (list, tuple, set, frozenset)):
            waiting += cast("list[Any]", one)
        elif isinstance(one, bytes):
            yield one.decode(errors="replace")
        elif isinstance(one, (int, float)) and not isinstance(one, bool):
            yield str(one)


_SPOOL: Final = "spool"
_RESULTS: Final = "results"
_PREVIEW: Final = 2_000


class TruncatedOutput(NodeFailed):
    """A reference to a truncated output. `summary` describes it where the value is only displayed."""

    summary: "JsonObject"


def raise_if_truncated(value: Any, key: Any, reference: TemplateReference, depth: int) -> None:
    """Raise TruncatedOutput if step number `depth` of a reference leads to a truncated output.

    Only direct outputs of a node, or of a batch item, can be truncated; deeper values are data.
    """
    if not isinstance(value, dict) or not isinstance(key, str) or not _is_direct_output(reference, depth):
        return
    outputs = cast("JsonObject", value)
    size, file = outputs.get(f"{key}_size"), outputs.get(f"{key}_file")
    if type(size) is not int or not isinstance(file, str) or not _is_spooled(file, key):
        return
    whole = f"${{{format_reference_prefix(reference, depth)}.{key}_file}}"
    cut = TruncatedOutput(
        f"`${{{reference.text}}}` is {size:,} bytes long, and only its start is available.",
        hint=f"The file `{whole}` has all of it: read it, for example with `< {whole}` in a command.",
    )
    cut.summary = {"truncated": True, "bytes": size, "preview": str(outputs.get(key))[:_PREVIEW], "file": file}
    raise cut


def _is_direct_output(reference: TemplateReference, depth: int) -> bool:
    return depth == 0 or (depth == 2 and reference.steps[0] == _RESULTS)  # ${node.results[0].stdout}


def _is_spooled(file: str, key: str) -> bool:
    """Return True for the path of a long output: `spool/RUN/stdout-…`."""
    path = PurePath(file)
    return path.name.startswith(f"{key}-") and path.parent.parent.name == _SPOOL
