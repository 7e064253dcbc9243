"""Answer repeated requests from a folder, without a network."""

import asyncio
import contextlib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from paper_search.sources.answer_store import AnswerStore, DamagedEntry, StoredAnswer
from paper_search.sources.interfaces import Request, Response, Transport
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.files import make_private
from uraniborg.kernel.logging import get_logger

_log = get_logger(__name__)


class CachingTransport:
    """A transport that replays answers in `folder` younger than `ttl_s` seconds, and sends other requests to `inner`.

    Only successes are stored. A cache that cannot be read or written is logged and does not fail a search.
    """

    def __init__(self, inner: Transport, folder: Path, *, ttl_s: float, clock: Clock | None = None) -> None:
        self._inner = inner
        self._store = AnswerStore(folder)
        self._lifetime = timedelta(seconds=ttl_s)
        self._clock = clock or SystemClock()
        self._swept = False

    async def send(self, request: Request) -> Response:
        if (stored := await asyncio.to_thread(self._sweep_once_and_find_fresh_answer, request)) is not None:
            return stored
        response = await self._inner.send(request)
        if response.status == 200:
            await asyncio.to_thread(self._try_store_answer, request, response)
        return response

    async def forget_answer(self, request: Request) -> None:
        """Drop a stored answer that turned out to be unusable."""
        with contextlib.suppress(OSError):  # the answer expires instead
            await asyncio.to_thread(self._store.remove_entry, request)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _sweep_once_and_find_fresh_answer(self, request: Request) -> Response | None:
        if not self._swept:
            self._swept = True
            self._delete_old_answers_and_make_rest_private()
        try:
            entry = self._store.read_entry(request)
        except DamagedEntry as error:
            _log.warning("a cached answer cannot be read", file=error.ids["file"])
            return None
        if entry is None or entry.kept_at is None or not isinstance(answer := entry.outcomes[0], StoredAnswer):
            return None
        age = self._clock.now() - entry.kept_at
        if not timedelta(0) <= age < self._lifetime:
            return None
        return replace(answer.replay(), calls=0)

    def _try_store_answer(self, request: Request, response: Response) -> None:
        try:
            self._store.write_entry(request, [StoredAnswer.from_response(response)], kept_at=self._clock.now())
        except OSError as error:
            _log.warning("the cache cannot be written", reason=error.strerror)

    def _delete_old_answers_and_make_rest_private(self) -> None:
        oldest = (self._clock.now() - self._lifetime).timestamp()
        for path in self._store.iterate_entry_paths():
            try:
                if path.stat().st_mtime < oldest:
                    path.unlink()
                else:
                    make_private(path)
            except OSError:
                continue  # another search removed it first
