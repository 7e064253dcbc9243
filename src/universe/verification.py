"""Verify universes for `universe verify`: their logs, and the states that a server returns."""

import asyncio
from functools import partial
from urllib.parse import quote

from universe.config import load_config
from universe.errors import StoreUnavailable
from universe.replies import Universe
from universe.service.universes import UniverseService
from universe.store.log_verification import (
    Verdict,
    flush_and_read_store_marks,
    list_lost_universe_ids,
    verify_log,
)
from universe.store.replica import rebuild_replica
from uraniborg.kernel.progress import ReportPhase


async def verify_universes(
    service: UniverseService, universe_id: str | None, url: str | None, report: ReportPhase | None = None
) -> list[Verdict]:
    """Return the verdict on one universe, or on all; report each. Raise UniverseNotFound or StoreUnavailable."""
    ids = [universe_id] if universe_id is not None else await list_all_ids(service)
    if universe_id is None:
        ids += list_lost_universe_ids(await flush_and_read_store_marks(service.store), ids)
    verdicts: list[Verdict] = []
    for one in ids:
        verdict = await verify_log(service.store, one, partial(report, one) if report else None)
        if url is not None and verdict.is_intact:
            await _add_problem_if_server_differs(service, verdict, url)
        verdicts.append(verdict)
    return verdicts


async def accept_lost_versions(service: UniverseService, universe_id: str | None) -> None:
    """Accept the logs of one universe, or of all, so that versions lost until now are not reported again."""
    if service.store.marks is not None:
        await asyncio.to_thread(service.store.marks.accept_losses, await service.store.list_log_heads(), universe_id)


async def list_all_ids(service: UniverseService) -> list[str]:
    """Return the ids of all universes, newest first."""
    found: list[str] = []
    before: tuple[str, str] | None = None
    while records := await service.list_records(limit=1_000, before=before):
        found += [record.id for record in records]
        before = (records[-1].created_at, records[-1].id)
    return found


async def _add_problem_if_server_differs(service: UniverseService, verdict: Verdict, url: str) -> None:
    served = await asyncio.to_thread(_fetch_universe, url, verdict.universe_id)
    then = await rebuild_replica(service.store, verdict.universe_id, served["version"])
    if then.mirror.to_plain() != served["state"]:
        verdict.add_problem(served["version"], "the server returns another state than the replayed one")


def _fetch_universe(url: str, universe_id: str) -> Universe:
    import httpx

    token = load_config().token
    headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    try:
        response = httpx.get(f"{url.rstrip('/')}/universes/{quote(universe_id, safe='')}", timeout=30, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as exc:
        raise StoreUnavailable(
            f"{url} does not answer: {type(exc).__name__}.", hint="Check that the server runs at this address."
        ) from None
    if response.status_code != 200:
        raise StoreUnavailable(
            f"{url} returned status {response.status_code} for the universe {universe_id}.",
            hint="Check that the server uses this database, and set its token in the settings.",
        )
    return response.json()
