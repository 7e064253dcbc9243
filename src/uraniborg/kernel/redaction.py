"""Masking of secrets: by the name of a field, by patterns in text, and by value once registered."""

import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, cast

from uraniborg.kernel.boundary import decode_lossless, encode_lossless
from uraniborg.kernel.secrets_in_text import MASK, SHORTEST_SECRET, KnownSecrets, Span, is_sensitive, mask_patterns

__all__ = ["MASK", "SHORTEST_SECRET", "Redactor", "enable_redactor", "is_sensitive", "redact", "register_secret"]

_DEEPEST: Final = 256
_SHORTEST_PATTERN: Final = len("pwd=x")
_SEQUENCES: Final = (list, tuple, set, frozenset)
_CONTAINERS: Final = (dict, *_SEQUENCES, Mapping)

_MaskText = Callable[[str], str]


class Redactor:
    """A function that masks secrets in any value: by the name of a field, and by value once registered. Thread-safe."""

    def __init__(self, base: "Redactor | None" = None) -> None:
        """Mask the secrets of the redactor `base` too, including those that it registers later."""
        self._lock = threading.Lock()
        self._own = KnownSecrets()
        self._others: tuple[KnownSecrets, ...] = (base._own,) if base else ()

    def register(self, secret: str) -> None:
        """Mask this value wherever it appears from now on. Ignore a value that is too short."""
        self._own.add(secret)

    @property
    def secrets(self) -> frozenset[str]:
        """The values that were registered here."""
        return self._own.values

    @contextmanager
    def include(self, other: "Redactor") -> Generator[None]:
        """Mask the secrets of another redactor too, within the block."""
        with self._lock:
            self._others = (*self._others, other._own)
        try:
            yield
        finally:
            with self._lock:
                others = list(self._others)
                others.remove(other._own)
                self._others = tuple(others)

    def __call__(self, value: Any, *, guess: bool = True) -> Any:
        """Return the value with secrets masked. An object whose repr contains a secret becomes its masked repr.

        Without `guess`, mask only registered secrets in text, no patterns.
        """
        return self._mask_value(value, self._mask_text if guess else self._mask_registered, within=[])

    def has_secret(self, value: Any) -> bool:
        """Return True if the value contains a registered secret."""
        waiting, seen = [value] if self._get_longest_length() else [], dict[int, Any]()
        while waiting:
            one = waiting.pop()
            if one is None or isinstance(one, bool):
                continue
            if _is_container(one):
                if id(one) not in seen:
                    seen[id(one)] = one
                    waiting += cast("Iterable[Any]", one)
                    waiting += cast("Mapping[Any, Any]", one).values() if isinstance(one, Mapping) else ()
            elif (text := _get_repr(one)) and self._find_spans(text):
                return True
        return False

    def mask_pieces(self, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield each piece of a long text and the piece masked; no registered secret spans two pieces."""
        rest = ""
        for text in texts:
            rest += text
            spans = self._find_spans(rest)
            # A secret that starts after this index may continue in the next piece.
            cut = max(0, len(rest) - self._get_longest_length())
            cut = next((start for start, end in spans if start < cut < end), cut)
            yield rest[:cut], _mask_spans(rest[:cut], [span for span in spans if span[1] <= cut])
            rest = rest[cut:]
        yield rest, _mask_spans(rest, self._find_spans(rest))

    def find_cut_secret(self, text: str) -> int:
        """Return the start of a registered secret that the end of the text cuts off, or the length of the text."""
        starts = [len(text)]
        for secret in self._own.values.union(*(others.values for others in self._others)):
            sizes = range(min(len(secret) - 1, len(text)), 0, -1)
            starts += [len(text) - next((size for size in sizes if text.endswith(secret[:size])), 0)]
        return min(starts)

    def _mask_value(self, value: Any, text: _MaskText, within: list[int]) -> Any:  # noqa: PLR0911 - a return for each kind
        if isinstance(value, str):
            return text(value)
        if value is None or isinstance(value, bool):
            return value
        if type(value) is int and -10_000 < value < 100_000:
            return value
        if isinstance(value, bytes):
            return encode_lossless(text(decode_lossless(value)))
        identity, is_container = id(value), _is_container(value)
        if is_container and len(within) < _DEEPEST and identity not in within:
            within.append(identity)
            masked = self._mask_container(value, text, within)
            within.pop()
            return masked
        if _is_secret(value):
            return MASK
        displayed = _get_repr(value)
        if displayed is None:
            return value if isinstance(value, int) else f"<{type(value).__name__}>"
        masked = text(displayed)
        return value if masked == displayed and not is_container and not isinstance(value, BaseException) else masked

    def _mask_container(self, value: Any, text: _MaskText, within: list[int]) -> Any:
        if isinstance(value, _SEQUENCES):
            masked: list[Any] = []
            for inner in cast("Iterable[Any]", value):
                # A comprehension would add a frame to the stack at each level.
                masked.append(text(inner) if isinstance(inner, str) else self._mask_value(inner, text, within))  # noqa: PERF401
            if isinstance(value, list):
                return masked
            if isinstance(value, tuple):
                return tuple(masked)
            return frozenset(masked) if isinstance(value, frozenset) else set(masked)
        named: dict[Any, Any] = {}
        for key, inner in cast("Mapping[Any, Any]", value).items():
            is_harmless = inner is None or isinstance(inner, bool) or (isinstance(inner, str) and not inner)
            is_secret = not is_harmless and isinstance(key, str) and is_sensitive(key)
            masked_key = text(key) if isinstance(key, str) else self._mask_key(key, text)
            named[masked_key] = MASK if is_secret else self._mask_value(inner, text, within)
        return named

    def _mask_key(self, key: Any, text: _MaskText) -> Any:
        masked = self._mask_value(key, text, [0] * _DEEPEST)
        return masked if isinstance(masked, str | int | float | None) else text(repr(masked))

    def _mask_text(self, text: str) -> str:
        if len(text) < _SHORTEST_PATTERN:
            return text
        known = self._mask_registered(text)
        guessed = mask_patterns(known)
        return known if guessed is known else self._mask_registered(guessed)

    def _mask_registered(self, text: str) -> str:
        if len(text) < SHORTEST_SECRET:
            return text
        # Masking one occurrence can join its neighbours into another.
        while spans := self._find_spans(text):
            text = _mask_spans(text, spans)
        return text

    def _get_longest_length(self) -> int:
        return max(self._own.longest, *(others.longest for others in self._others), 0)

    def _find_spans(self, text: str) -> list[Span]:
        """Return the spans of secrets in order, overlapping ones merged."""
        found = self._own.find_spans(text)
        for others in self._others:
            found += others.find_spans(text)
        return _merge_spans(found) if found else found


def _merge_spans(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _mask_spans(text: str, spans: list[Span]) -> str:
    starts = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), len(text)]
    return MASK.join(text[start:end] for start, end in zip(starts, ends, strict=True))


def _is_container(value: Any) -> bool:
    return isinstance(value, _CONTAINERS)


def _get_repr(value: Any) -> str | None:
    """Return the repr of a value that is not a container, or None if that fails."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return decode_lossless(value)
    try:
        return f"{type(value).__name__}: {value}" if isinstance(value, BaseException) else repr(value)
    except Exception:
        return None


def _is_secret(value: Any) -> bool:
    """Return True for pydantic's secret types, without importing pydantic, which is slow."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(value, (pydantic.SecretStr, pydantic.SecretBytes))


redact: Final = Redactor()
"""The redactor of this process, which masks every log record."""


def register_secret(value: str) -> None:
    """Mask this value in every later log record and in the results of `redact`."""
    redact.register(value)


def enable_redactor(redactor: Redactor) -> AbstractContextManager[None]:
    """Mask the secrets of this redactor in log records and in the results of `redact`, within the block.

    Several blocks may overlap, in any threads, and end in any order.
    """
    return redact.include(redactor)
