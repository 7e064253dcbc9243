"""The keys of sources: where they are sent, and that they turn up nowhere else."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote, quote_plus

from pydantic import SecretStr

from uraniborg.kernel.logging import MASK, register_secret

_SHORTEST_TOLD_FROM_TEXT: Final = 6


@dataclass(frozen=True, slots=True)
class Auth:
    """A key and where the source expects it."""

    place: Literal["header", "param"]
    name: str
    secret: SecretStr

    @property
    def value(self) -> str:
        return self.secret.get_secret_value()

    def taken_out_of(self, body: bytes) -> bytes:
        """The body without this key: some sources repeat the request in the answer, and answers are kept on disk."""
        for spelling in self.spellings:
            body = body.replace(spelling.encode(), MASK.encode())
        return body

    @property
    def spellings(self) -> tuple[str, ...]:
        """The key as it stands and as it looks in an address; none for one too short to be told from other text."""
        if len(self.value) < _SHORTEST_TOLD_FROM_TEXT:
            return ()
        return tuple(dict.fromkeys((self.value, quote(self.value, safe=""), quote_plus(self.value))))


class KeysStayOutOfLogs(logging.Filter):
    """A filter for httpx's logger, which logs the whole address of every request; some keys travel in it."""

    def __init__(self, auths: Iterable[Auth]) -> None:
        super().__init__()
        self._spellings: list[str] = []
        for auth in auths:
            register_secret(auth.value)
            self._spellings += auth.spellings

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(self._masked(arg) for arg in record.args)
        return True

    def _masked(self, arg: object) -> object:
        text = str(arg)
        if not any(spelling in text for spelling in self._spellings):
            return arg
        for spelling in self._spellings:
            text = text.replace(spelling, MASK)
        return text
