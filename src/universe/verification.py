"""`universe verify`: every log from its first entry, and what a server makes of it."""

import asyncio
import sys
from typing import Any
from urllib.parse import quote

from universe.config import load_config
from universe.errors import StoreUnavailable
from universe.service.universes import UniverseService
from universe.store.log_verification import Progress, Verdict, list_lost_universes, read_marks, verify_log
from universe.store.replica import rebuild_replica

_STEP = 10_000


async def verify_universes(
    service: UniverseService, universe_id: str | None, url: str | None, *, quiet: bool
) -> list[Verdict]:
    """Return the verdict on one universe, or on all. Raises UniverseNotFound, or StoreUnavailable if the server is."""
    ids = [universe_id] if universe_id is not None else await _list_all_ids(service)
    if universe_id is None:
        ids += list_lost_universes(await read_marks(service.store), ids)
    verdicts: list[Verdict] = []
    for one in ids:
        verdict = await verify_log(service.store, one, None if quiet else _make_progress(one))
        if url is not None and verdict.is_intact:
            await _compare_with_server(service, verdict, url)
        verdicts.append(verdict)
    return verdicts


async def accept_lost_versions(service: UniverseService, universe_id: str | None) -> None:
    """Take the logs as they are for whole from now on: versions that were lost are not reported any more."""
    if service.store.marks is not None:
        await asyncio.to_thread(service.store.marks.accept_losses, await service.store.heads(), universe_id)


async def _list_all_ids(service: UniverseService) -> list[str]:
    found: list[str] = []
    before: tuple[str, str] | None = None
    while records := await service.records(limit=1_000, before=before):
        found += [record.id for record in records]
        before = (records[-1].created_at, records[-1].id)
    return found


async def _compare_with_server(service: UniverseService, verdict: Verdict, url: str) -> None:
    served = await asyncio.to_thread(_fetch_universe, url, verdict.universe_id)
    then = await rebuild_replica(service.store, verdict.universe_id, served["version"])
    if then.mirror.to_plain() != served["state"]:
        verdict.add_problem(served["version"], "the server serves another state than the log leads to")


def _fetch_universe(url: str, universe_id: str) -> dict[str, Any]:
    import httpx

    token = load_config().token
    headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    try:
        response = httpx.get(f"{url.rstrip('/')}/universes/{quote(universe_id, safe='')}", timeout=30, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as exc:
        raise StoreUnavailable(f"{url} does not answer: {type(exc).__name__}.", hint="Is it running there?") from None
    if response.status_code != 200:
        raise StoreUnavailable(
            f"{url} answers {response.status_code} when asked for {universe_id}.",
            hint="Is it the server of this database? A token is taken from the settings.",
        )
    return response.json()


def _make_progress(universe_id: str) -> Progress:
    def tell(done: int, total: int) -> None:
        if total >= _STEP and done % _STEP < 1_000:
            sys.stderr.write(f"{universe_id}: {done:,} of {total:,} entries\n")

    return tell
