"""Secrets of a run: which they are, and how they are kept out of everything that is written or answered."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from uraniborg.kernel.logging import Redactor, register_secret

_SENSITIVE: Final = re.compile(
    r"(^|_)(password|passwd|pwd|passphrase|secret|secrets|credential|credentials|authorization|auth|bearer|cookie)(_|$)"
    r"|(^|_)(api|access|auth|private|secret|ssh|signing|client)_?(key|token|secret)(_|$)"
    r"|(^|_)token$|^apikey$|(^|_)apikey(_|$)"
)
SHORTEST: Final = 6
"""A value shorter than this cannot be told from other text."""


def is_sensitive(name: str) -> bool:
    """Whether a value of this name is a secret. `author`, `max_tokens` and `keyboard` are none."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return _SENSITIVE.search(re.sub(r"[\W_]+", "_", words).lower()) is not None


class Secrets:
    """The secret values of one run."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self.values = {text for value in values for text in _texts(value) if len(text.strip()) >= SHORTEST}
        self._redactor = Redactor()
        for text in self.values:
            self._redactor.register(text)
            register_secret(text)  # for the log, whoever writes it

    def masked(self, value: Any) -> Any:
        """The value with every secret masked, by its name and by its value."""
        return self._redactor(value)

    def are_in(self, value: Any) -> bool:
        """Whether a text within the value holds one."""
        if not self.values:
            return False
        from pflow.templates.resolving import texts_within

        return any(secret in text for text in texts_within(value) for secret in self.values)


def secret_params(params: Mapping[str, Any]) -> list[Any]:
    """The values of a node's parameters that are secrets by their names."""
    return [value for name, value in params.items() if is_sensitive(name)]


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, (int, float)):
        return [str(value)]
    if isinstance(value, dict):
        return [text for item in cast("dict[str, Any]", value).values() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in cast("list[Any]", value) for text in _texts(item)]
    return []
