"""Mask the secrets of a run in everything that is written or returned."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pflow.templates.resolution import iter_texts_and_numbers
from uraniborg.kernel.child_environment import register_environment_secrets
from uraniborg.kernel.redaction import SHORTEST_SECRET, Redactor, is_sensitive, redact

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json


class Secrets:
    """The secret values of one run. The program log masks them while `masking(secrets.redactor)` is in force.

    Secrets of the process are secrets of every run: the values of sensitive environment variables, and keys of nodes
    and servers.
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        register_environment_secrets()
        self.redactor = Redactor(base=redact)
        self._short: set[str] = set()
        self.add(values)

    @property
    def values(self) -> frozenset[str]:
        """All secrets that are long enough to be masked."""
        return self.redactor.secrets | redact.secrets

    @property
    def own_values(self) -> frozenset[str]:
        """The secrets of the workflow without those of this process: for the processes that run its nodes."""
        return self.redactor.secrets

    def add(self, values: Iterable[Any]) -> None:
        """Add secrets. One that is too short to be distinguished from other text is not masked."""
        for text in {text.strip() for value in values for text in iter_texts_and_numbers(value, include_keys=False)}:
            if len(text) >= SHORTEST_SECRET:
                self.redactor.register(text)
            elif text:
                self._short.add(text)

    def mask(self, value: Any, *, guess: bool = True) -> Any:
        """Return the value with secrets masked, by name and by value; with `guess`, also texts that look secret."""
        return self.redactor(value, guess=guess)

    def has_secret_in(self, value: Any) -> bool:
        """Return True if a text or number in the value contains a secret in any spelling, or equals a short one."""
        if self.redactor.has_secret(value):
            return True
        return bool(self._short) and any(text.strip() in self._short for text in iter_texts_and_numbers(value))

    def has_short_secret_in(self, value: Any) -> bool:
        """Return True if a text or number in the value contains a secret that is too short to be masked."""
        return any(short in text for short in self._short for text in iter_texts_and_numbers(value))


def find_secret_param_values(params: "Mapping[str, Json]") -> "list[Json]":
    """Return the values of parameters that are secrets by their names, at any depth."""
    found: list[Json] = []
    waiting: list[Json] = [dict(params)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            for name, value in one.items():
                if is_sensitive(name):
                    found.append(value)
                elif isinstance(value, (dict, list)):
                    waiting.append(value)
        elif isinstance(one, list):
            waiting += one
    return found
