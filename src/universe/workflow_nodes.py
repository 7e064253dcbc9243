"""Universes as nodes of workflows, found under the entry point `pflow.nodes`: parameters in, plain values out."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import orjson
from pydantic import SecretStr

from universe.config import UniverseConfig, load_config
from universe.domain.events import Event
from universe.errors import MalformedRequest
from universe.initial_states import get_default_name, load_initial_state_async
from universe.service.replies import StatePart, write_part
from universe.service.universes import UniverseService
from universe.store.factory import make_store
from uraniborg.kernel.errors import Conflict
from uraniborg.kernel.ids import content_id
from uraniborg.kernel.sqlite import DatabaseMissing

_SQLITE: Final = "sqlite:///"


class Context(Protocol):
    """What is used of what a node is given; `lineage`, the run that this one goes on from, and `keeper` may be absent.

    What a node is called is its own alone within a run, also where it runs several times.
    """

    @property
    def run_id(self) -> str: ...

    @property
    def node_id(self) -> str: ...

    @property
    def folder(self) -> Path: ...


async def command(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """Sends commands, all or none of which take effect, to a universe that is made first if `create` says so.

    A run that goes on from another neither makes the universe nor sends the commands twice. Raises as
    `UniverseService.send` and `UniverseService.create`.
    """
    given, creates = params.get("command"), bool(params.get("create"))
    if given is None and not creates:
        raise MalformedRequest("There is nothing to do.", hint="Give command, or set create.", argument="command")
    async with _lend_service(params.get("db"), context, makes=creates) as service:
        universe_id, created = (
            await _create_universe(service, params, context) if creates else (_get_universe_id(params), False)
        )
        if given is None:
            events, version = list[Event](), (await service.record(universe_id)).version
        else:
            key = params.get("idempotency_key") or _make_idempotency_key(context, universe_id, given)
            expected = params.get("expected_version")
            result = await service.send(
                universe_id, given, expected_version=expected, key=key, author=_format_author(context)
            )
            events, version = result.events, result.version
    return {"events": events, "version": version, "universe_id": universe_id, "created": created}


async def state(params: dict[str, Any], context: Context) -> dict[str, Any]:
    """The state of a universe, whole or in part. Raises as `UniverseService.view`."""
    ids, fields = params.get("ids"), params.get("fields")
    async with _lend_service(params.get("db"), context, makes=False) as service:
        seen = await service.view(_get_universe_id(params), params.get("version"))
        if ids is None and fields is None:
            plain, not_found = seen.replica.mirror.to_plain(), list[str]()
        else:
            plain = await asyncio.to_thread(orjson.loads, await write_part(seen.replica, StatePart(ids, fields)))
            not_found = plain.pop("notFound", [])
            del plain["version"]
    return {
        "state": plain,
        "version": seen.version,
        "universe_id": seen.record.id,
        "name": seen.record.name,
        "not_found": not_found,
    }


def _get_universe_id(params: dict[str, Any]) -> str:
    if not params.get("universe_id"):
        raise MalformedRequest("No universe is named.", hint="Give universe_id.", argument="universe_id")
    return params["universe_id"]


async def _create_universe(service: UniverseService, params: dict[str, Any], context: Context) -> tuple[str, bool]:
    """The id of the universe, and whether it was made now; one that is there already is taken as it is."""
    origin = params.get("from")
    name = params.get("name") or get_default_name(origin)
    universe_id = params.get("universe_id") or f"uni_{content_id(*_get_run_and_node(context), name, origin or '')}"
    if await service.store.record(universe_id) is not None:
        return universe_id, False
    begins_as = None if origin is None else await load_initial_state_async(origin)
    try:
        await service.create(name, begins_as, universe_id=universe_id, author=_format_author(context))
    except Conflict:  # somebody else was faster
        return universe_id, False
    return universe_id, True


def _format_author(context: Context) -> str:
    """Return the workflow and the run, as the author of what a node does."""
    workflow = "".join(char for char in str(getattr(context, "workflow", "")) if char.isprintable()).strip()
    return f"workflow {workflow[:80] or 'without a name'}, run {context.run_id[:80]}"


def _make_idempotency_key(context: Context, universe_id: str, given: Any) -> str:
    return content_id(*_get_run_and_node(context), universe_id, json.dumps(given, sort_keys=True))


def _get_run_and_node(context: Context) -> tuple[str, str]:
    """Which node of which run: the same when the run is gone on with."""
    return getattr(context, "lineage", "") or context.run_id, context.node_id


class _OpenService:
    """A service that is running, until it is closed."""

    def __init__(self, service: UniverseService, ending: AsyncExitStack) -> None:
        self.service = service
        self._ending = ending

    async def close(self) -> None:
        await self._ending.aclose()


@asynccontextmanager
async def _lend_service(db: str | None, context: Context, *, makes: bool) -> AsyncGenerator[UniverseService]:
    """The service of a database: one for all nodes of a run where the run keeps things for its nodes."""
    config = await asyncio.to_thread(_load_config, db, context.folder)
    if not makes:
        await asyncio.to_thread(_check_database_exists, config)
    keep = getattr(getattr(context, "keeper", None), "keep", None)
    if keep is not None:
        opened: _OpenService = await keep(f"universes {content_id(config.address)}", lambda: _open_service(config))
        yield opened.service
        return
    opened = await _open_service(config)
    try:
        yield opened.service
    finally:
        await opened.close()


async def _open_service(config: UniverseConfig) -> _OpenService:
    ending = AsyncExitStack()
    service = UniverseService(make_store(config.address), snapshot_every=config.snapshot_every)
    return _OpenService(await ending.enter_async_context(service.running()), ending)


def _load_config(db: str | None, folder: Path) -> UniverseConfig:
    """The settings, with the database that is named before the one they name. Relative paths begin in `folder`."""
    config = load_config()
    if not db:
        return config
    is_path = db.startswith(_SQLITE) or not re.match("[a-z]{2,}:", db)
    address = f"{_SQLITE}{folder / Path(db.removeprefix(_SQLITE)).expanduser()}" if is_path else db
    return config.model_copy(update={"db": SecretStr(address)})


def _check_database_exists(config: UniverseConfig) -> None:
    """Raises DatabaseMissing for a file that is named and not there: looking must not make it."""
    if config.db is None or not config.address.startswith(_SQLITE):
        return
    path = Path(config.address.removeprefix(_SQLITE)).expanduser()
    if not path.is_file():
        raise DatabaseMissing(f"There is no database {path.name}.", hint="Set create to make one.", name=path.name)
