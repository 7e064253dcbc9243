"""Answers kept for a while, so that asking the same again costs nobody anything."""

import asyncio
import contextlib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from paper_search.sources.answer_store import AnswerStore, DamagedEntry, KeptAnswer
from paper_search.sources.interfaces import Request, Response, Transport
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.files import make_private
from uraniborg.kernel.logging import get_logger

_log = get_logger(__name__)


class CachingTransport:
    """Answers from `folder` what was answered less than `ttl_s` ago, and asks `inner` for the rest.

    Only successes are kept. A cache that cannot be read or written costs calls and is logged; it fails no search.
    """

    def __init__(self, inner: Transport, folder: Path, *, ttl_s: float, clock: Clock | None = None) -> None:
        self._inner = inner
        self._store = AnswerStore(folder)
        self._lifetime = timedelta(seconds=ttl_s)
        self._clock = clock or SystemClock()
        self._swept = False

    async def send(self, request: Request) -> Response:
        if (kept := await asyncio.to_thread(self._fresh, request)) is not None:
            return kept
        response = await self._inner.send(request)
        if response.status == 200:
            await asyncio.to_thread(self._keep, request, response)
        return response

    async def forget(self, request: Request) -> None:
        """Drops a kept answer that turned out to be unusable."""
        with contextlib.suppress(OSError):  # it then grows old
            await asyncio.to_thread(self._store.remove, request)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _fresh(self, request: Request) -> Response | None:
        if not self._swept:
            self._swept = True
            self._sweep()
        try:
            entry = self._store.read(request)
        except DamagedEntry as error:
            _log.warning("a cached answer cannot be read", file=error.ids["file"])
            return None
        if entry is None or entry.kept_at is None or not isinstance(answer := entry.outcomes[0], KeptAnswer):
            return None
        age = self._clock.now() - entry.kept_at
        if not timedelta(0) <= age < self._lifetime:
            return None
        return replace(answer.given_back(), calls=0)

    def _keep(self, request: Request, response: Response) -> None:
        try:
            self._store.write(request, [KeptAnswer.of(response)], kept_at=self._clock.now())
        except OSError as error:
            _log.warning("the cache cannot be written", reason=error.strerror)

    def _sweep(self) -> None:
        oldest = (self._clock.now() - self._lifetime).timestamp()
        for path in self._store.paths():
            try:
                if path.stat().st_mtime < oldest:
                    path.unlink()
                else:
                    make_private(path)
            except OSError:
                continue  # another search swept it first
