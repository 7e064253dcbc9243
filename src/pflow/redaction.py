"""Secrets of a run: which they are, and how they are kept out of everything that is written or answered."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

from pflow.templates.resolving import texts_within
from uraniborg.kernel.logging import MASK, Redactor, register_secret

_SENSITIVE: Final = re.compile(
    r"(^|_)(pwd|passphrase|secret|secrets|credential|credentials|authorization|auth|bearer|cookie)(_|$)"
    r"|(password|passwd)s?\d*(_|$)"
    r"|(^|_)(api|access|auth|private|secret|ssh|signing|client)_?(key|token|secret)s?(_|$)"
    r"|(^|_)token$"
)
_ABOUT: Final = re.compile(r"_(header|type|name|file|path|url|scheme|policy)$")
"""What ends so tells of a secret, and is none: `api_key_header`."""
_SCHEMES: Final = ("bearer ", "basic ", "token ")
_CHUNK: Final = 1 << 20
SHORTEST: Final = 6
"""A value shorter than this cannot be told from other text."""


@lru_cache(maxsize=4096)
def is_sensitive(name: str) -> bool:
    """Whether a value of this name is a secret. `author`, `max_tokens` and `keyboard` are none."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    spelt = re.sub(r"[\W_]+", "_", words).lower()
    return _SENSITIVE.search(spelt) is not None and _ABOUT.search(spelt) is None


class Secrets:
    """The secret values of one run."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self.values: set[str] = set()
        self._spellings: set[str] = set()
        self._short: set[str] = set()
        self._redactor = Redactor()
        self.add(values)

    def add(self, values: Iterable[Any]) -> None:
        """From now on these are secrets, too. What is too short to be told from other text is none."""
        texts = {text.strip() for value in values for text in texts_within(value, keys=False)}
        texts |= {text.partition(" ")[2].strip() for text in texts if text.lower().startswith(_SCHEMES)}
        self._short |= {text for text in texts if 0 < len(text) < SHORTEST}
        for text in texts - self.values:
            if len(text) >= SHORTEST:
                self.values.add(text)
                self._spellings |= _spellings(text)
                self._redactor.register(text)
                register_secret(text)  # for the log, whoever writes it

    def masked(self, value: Any) -> Any:
        """The value with every secret masked, by its name and by its value."""
        return self._redactor(value)

    def are_in(self, value: Any) -> bool:
        """Whether a text within the value holds one, as it is or as JSON and addresses spell it."""
        if not self.values and not self._short:
            return False
        return any(
            text.strip() in self._short or any(secret in text for secret in self._spellings)
            for text in texts_within(value)
        )

    def scrub(self, path: Path) -> None:
        """Mask them in a file, which may be too large to be read at once. Raises OSError."""
        spelt = sorted((one.encode("utf-8", "surrogatepass") for one in self._spellings), key=len, reverse=True)
        if not spelt or not _holds(path, spelt):
            return
        pattern = re.compile(b"|".join(map(re.escape, spelt)))
        masked = path.with_name(f"{path.name}.masked")
        with path.open("rb") as source, masked.open("wb") as target:
            rest = b""
            while chunk := source.read(_CHUNK):
                text = pattern.sub(MASK.encode(), rest + chunk)
                # What may be the beginning of one that goes on in the next piece is kept back.
                rest, text = text[-len(spelt[0]) :], text[: -len(spelt[0])]
                target.write(text)
            target.write(rest)
        masked.chmod(0o600)
        masked.replace(path)


def _holds(path: Path, spelt: list[bytes]) -> bool:
    rest = b""
    with path.open("rb") as source:
        while chunk := source.read(_CHUNK):
            text = rest + chunk
            if any(one in text for one in spelt):
                return True
            rest = text[-len(spelt[0]) :]
    return False


def secret_params(params: Mapping[str, Any]) -> list[Any]:
    """The values of a node's parameters that are secrets by their names, however deep they are in there."""
    found: list[Any] = []
    waiting: list[Any] = [params]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for name, value in cast("dict[str, Any]", one).items():
                if is_sensitive(name):
                    found.append(value)
                elif isinstance(value, (dict, list)):
                    waiting.append(value)
        elif isinstance(one, list):
            waiting += cast("list[Any]", one)
    return found


def _spellings(text: str) -> set[str]:
    return {
        text,
        json.dumps(text)[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        quote(text, safe="", errors="surrogatepass"),
        quote(text, errors="surrogatepass"),
    }
