"""Secrets of a run: which they are, and how they are kept out of everything that is written or answered."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast
from urllib.parse import quote

from pflow.templates.resolving import texts_within
from uraniborg.kernel.logging import Redactor, register_secret

_SENSITIVE: Final = re.compile(
    r"(^|_)(pwd|passphrase|secret|secrets|credential|credentials|authorization|auth|bearer|cookie)(_|$)"
    r"|(password|passwd)s?\d*(_|$)"
    r"|(^|_)(api|access|auth|private|secret|ssh|signing|client)_?(key|token|secret)s?(_|$)"
    r"|(^|_)token$"
)
_ABOUT: Final = re.compile(r"_(header|type|name|file|path|url|scheme|policy)$")
"""What ends so tells of a secret, and is none: `api_key_header`."""
_SCHEMES: Final = ("bearer ", "basic ", "token ")
SHORTEST: Final = 6
"""A value shorter than this cannot be told from other text."""


def is_sensitive(name: str) -> bool:
    """Whether a value of this name is a secret. `author`, `max_tokens` and `keyboard` are none."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    spelt = re.sub(r"[\W_]+", "_", words).lower()
    return _SENSITIVE.search(spelt) is not None and _ABOUT.search(spelt) is None


class Secrets:
    """The secret values of one run."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        texts = {text.strip() for value in values for text in texts_within(value, keys=False)}
        texts |= {text.partition(" ")[2].strip() for text in texts if text.lower().startswith(_SCHEMES)}
        self.values = {text for text in texts if len(text) >= SHORTEST}
        self._spellings = {spelling for text in self.values for spelling in _spellings(text)}
        self._redactor = Redactor()
        for text in self.values:
            self._redactor.register(text)
            register_secret(text)  # for the log, whoever writes it

    def masked(self, value: Any) -> Any:
        """The value with every secret masked, by its name and by its value."""
        return self._redactor(value)

    def are_in(self, value: Any) -> bool:
        """Whether a text within the value holds one, as it is or as JSON and addresses spell it."""
        if not self.values:
            return False
        return any(secret in text for text in texts_within(value) for secret in self._spellings)


def secret_params(params: Mapping[str, Any]) -> list[Any]:
    """The values of a node's parameters that are secrets by their names, however deep they are in there."""
    found: list[Any] = []
    waiting: list[Any] = [params]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            for name, value in cast("Mapping[str, Any]", one).items():
                (found if is_sensitive(name) else waiting).append(value)
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
