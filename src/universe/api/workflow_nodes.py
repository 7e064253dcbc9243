"""Workflow nodes for universes, registered under the entry point `pflow.nodes`."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NotRequired, Protocol, cast

import orjson
from typing_extensions import TypedDict

from universe.config import UniverseConfig, load_config
from universe.domain.command_results import Event
from universe.domain.nbody.measurement_replies import PlanetTransits, RunReply, TransitReply
from universe.domain.state import Plain
from universe.errors import MalformedRequest
from universe.service.initial_states import get_default_universe_name, load_or_generate_state_in_thread
from universe.service.reply_encoding import StatePart, encode_state_part
from universe.service.universes import UniverseService
from universe.store.factory import make_store
from uraniborg.kernel.actors import Actor, clean_name
from uraniborg.kernel.errors import Conflict, UraniborgError
from uraniborg.kernel.ids import content_id
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.store.sqlite import DatabaseMissing

if TYPE_CHECKING:
    from universe.domain.nbody.measurement_replies import TransitReply
    from universe.service.jobs.job_store import StoredJob
    from universe.service.jobs.options_and_replies import JobError, JobKind


_NAME_CHARS: Final = 40
"""The characters of a workflow's name in the name of an actor, which also has the id of the run."""


class UniverseNodeContext(Protocol):
    """The context of a node. It may also have `lineage`, the run that this run resumes, and `shared_objects`.

    `node_id` is unique in a run, also for a node that runs several times.
    """

    @property
    def run_id(self) -> str: ...

    @property
    def node_id(self) -> str: ...

    @property
    def folder(self) -> Path: ...


async def command(params: "CommandParams", context: UniverseNodeContext) -> "CommandOutputs":
    """Send commands, of which all or none take effect, to a universe, which is created first if `create` is true.

    A resumed run neither may_create the universe nor sends the commands twice. Raise as `UniverseService.send` and
    `UniverseService.create` do.
    """
    given, may_create = params.get("command"), bool(params.get("create"))
    if given is None and not may_create:
        raise MalformedRequest("command is missing.", hint="Give command, or set create.", argument="command")
    async with _open_or_share_service(params.get("db"), context, may_create=may_create) as service:
        universe_id, created = (
            await _get_or_create_universe(service, params, context) if may_create else (_get_universe_id(params), False)
        )
        if given is None:
            events, version = list[Event](), (await service.read_record(universe_id)).version
        else:
            key = params.get("idempotency_key") or _make_idempotency_key(context, universe_id, given)
            expected = params.get("expected_version")
            result = await service.send(
                universe_id, given, expected_version=expected, key=key, actor=_make_actor(context)
            )
            events, version = result.events, result.version
    return {"events": events, "version": version, "universe_id": universe_id, "created": created}


async def nbody(params: "JobParams", context: UniverseNodeContext) -> "RunOutputs":
    """Integrate a universe as a job and return its result. Raise JobFailed, and as `JobService.create` does."""
    options = _make_job_options(params, "nbody", ("days", "bodies", "method", "step", "relativity", "on_collision"))
    job, written = await _compute_job(params, options, context)
    summary = job.summary
    return {
        "verdict": summary.get("verdict") if summary else None,
        "headline": summary["headline"] if summary else None,
        "trustworthy": summary.get("trustworthy") if summary else None,
        "error_degrees": summary.get("errorDegrees") if summary else None,
        "result": orjson.loads(written),
        **_describe_job(job),
    }


async def transits(params: "JobParams", context: UniverseNodeContext) -> "TransitOutputs":
    """Compute transit times as a job and return its result. Raise JobFailed, and as `JobService.create` does."""
    options = _make_job_options(params, "transits", ("days", "bodies", "observer", "kepler"))
    job, written = await _compute_job(params, options, context)
    result: TransitReply = orjson.loads(written)
    summary = job.summary
    return {
        "planets": result["planets"],
        "headline": summary["headline"] if summary else None,
        "error_seconds": summary.get("errorSeconds") if summary else None,
        "result": result,
        **_describe_job(job),
    }


def _make_job_options(params: "JobParams", kind: "JobKind", names: tuple[str, ...]) -> JsonObject:
    values = cast("JsonObject", params)
    given = {name: values[name] for name in (*names, "version", "max_seconds") if values.get(name) is not None}
    return {"kind": kind, **given}


async def _compute_job(
    params: "UniverseParams", options: JsonObject, context: UniverseNodeContext
) -> "tuple[StoredJob, bytes]":
    """Return the job and its result as JSON. A resumed run uses the job of the run that it resumes."""
    from universe.errors import JobFailed
    from universe.service.jobs.job_service import JobService

    universe_id = _get_universe_id(params)
    key = content_id(*_get_run_and_node(context), universe_id, json.dumps(options, sort_keys=True))
    actor = _make_actor(context)
    async with (
        _open_or_share_service(params.get("db"), context, may_create=False) as service,
        JobService(service).running() as jobs,
    ):
        job = await jobs.create(universe_id, options, actor=actor, job_id=f"job_{key}", is_kept=False)
        if not job.is_active and job.state != "done":
            job = await jobs.create(universe_id, options, actor=actor)
        try:
            job = await jobs.wait(universe_id, job.id)
        except asyncio.CancelledError:
            with suppress(UraniborgError):
                await jobs.cancel(universe_id, job.id)
            raise
        if job.state != "done":
            cancelled: JobError = {"message": f"The job was {job.state}.", "hint": "", "code": job.state}
            error = job.error or cancelled
            raise JobFailed(error["message"], hint=error.get("hint", ""), reason=error["code"], jobId=job.id)
        return job, await jobs.read_result(universe_id, job.id)


def _describe_job(job: "StoredJob") -> "JobOutputs":
    return {"job_id": job.id, "universe_id": job.universe_id, "version": job.version}


async def state(params: "StateParams", context: UniverseNodeContext) -> "StateOutputs":
    """Return the state of a universe, or a part of it. Raise as `UniverseService.view` does."""
    ids, fields = params.get("ids"), params.get("fields")
    async with _open_or_share_service(params.get("db"), context, may_create=False) as service:
        view = await service.view(_get_universe_id(params), params.get("version"))
        if ids is None and fields is None:
            plain, not_found = view.replica.mirror.to_plain(), list[str]()
        else:
            plain = await asyncio.to_thread(orjson.loads, await encode_state_part(view.replica, StatePart(ids, fields)))
            not_found = plain.pop("notFound", [])
            del plain["version"]
    return {
        "state": plain,
        "version": view.version,
        "universe_id": view.record.id,
        "name": view.record.name,
        "not_found": not_found,
    }


def _get_universe_id(params: "UniverseParams") -> str:
    if not (universe_id := params.get("universe_id")):
        raise MalformedRequest("universe_id is missing.", hint="Give the id of a universe.", argument="universe_id")
    return universe_id


async def _get_or_create_universe(
    service: UniverseService, params: "CommandParams", context: UniverseNodeContext
) -> tuple[str, bool]:
    """Return the id of the universe and whether it was created; an existing universe is used unchanged."""
    origin = params.get("from")
    name = params.get("name") or get_default_universe_name(origin)
    universe_id = params.get("universe_id") or f"uni_{content_id(*_get_run_and_node(context), name, origin or '')}"
    if await service.store.read_record(universe_id) is not None:
        return universe_id, False
    initial = None if origin is None else await load_or_generate_state_in_thread(origin, params.get("settings"))
    try:
        await service.create(name, initial, universe_id=universe_id, actor=_make_actor(context))
    except Conflict:  # another process created it first
        return universe_id, False
    return universe_id, True


def _make_actor(context: UniverseNodeContext) -> Actor:
    workflow = clean_name(str(getattr(context, "workflow", "")))
    name = f"workflow {workflow[:_NAME_CHARS] or 'without a name'}, run {context.run_id}"
    return Actor(kind="software", name=name, authenticated="account")


def _make_idempotency_key(context: UniverseNodeContext, universe_id: str, given: Any) -> str:
    return content_id(*_get_run_and_node(context), universe_id, json.dumps(given, sort_keys=True))


def _get_run_and_node(context: UniverseNodeContext) -> tuple[str, str]:
    """Return the ids of the run and the node, which are the same in a resumed run."""
    return getattr(context, "lineage", "") or context.run_id, context.node_id


class _OpenService:
    """A running service that is stopped by `close`."""

    def __init__(self, service: UniverseService, ending: AsyncExitStack) -> None:
        self.service = service
        self._ending = ending

    async def close(self) -> None:
        await self._ending.aclose()


@asynccontextmanager
async def _open_or_share_service(
    db: str | None, context: UniverseNodeContext, *, may_create: bool
) -> AsyncGenerator[UniverseService]:
    """Lend the service of a database; all nodes of a run share it if the context has `shared_objects`."""
    config = await asyncio.to_thread(_load_config, db, context.folder)
    if not may_create:
        await asyncio.to_thread(_check_database_exists, config)
    get_or_create = getattr(getattr(context, "shared_objects", None), "get_or_create", None)
    if get_or_create is not None:
        opened: _OpenService = await get_or_create(
            f"universes {content_id(config.database_address)}", lambda: _open_service(config)
        )
        yield opened.service
        return
    opened = await _open_service(config)
    try:
        yield opened.service
    finally:
        await opened.close()


async def _open_service(config: UniverseConfig) -> _OpenService:
    ending = AsyncExitStack()
    service = UniverseService(make_store(config.database_address), snapshot_every=config.snapshot_every)
    return _OpenService(await ending.enter_async_context(service.running()), ending)


def _load_config(db: str | None, folder: Path) -> UniverseConfig:
    """Return the settings, with the database `db` if it is given; relative paths start in `folder`."""
    config = load_config()
    return config.with_database(db, folder) if db else config


def _check_database_exists(config: UniverseConfig) -> None:
    """Raise DatabaseMissing for a database file that does not exist, so that reading does not create it."""
    path = config.database_path
    if config.db is not None and path is not None and not path.is_file():
        raise DatabaseMissing(f"There is no database {path.name}.", hint="Set create to create one.", name=path.name)


class UniverseParams(TypedDict):
    """What the nodes have in common: the universe and its database."""

    universe_id: NotRequired[str | None]
    db: NotRequired[str | None]


CreationParams = TypedDict("CreationParams", {"from": NotRequired[str | None]})
CreationParams.__doc__ = "What a universe is created from."


class CommandParams(UniverseParams, CreationParams):
    """The parameters of universe-command. `name`, `from` and `settings` are for a universe to create."""

    command: NotRequired[Json]
    create: NotRequired[bool | None]
    name: NotRequired[str | None]
    settings: NotRequired[JsonObject | None]
    idempotency_key: NotRequired[str | None]
    expected_version: NotRequired[int | None]


class CommandOutputs(TypedDict):
    """The outputs of universe-command."""

    events: list[Event]
    version: int
    universe_id: str
    created: bool


class StateParams(UniverseParams):
    """The parameters of universe-state."""

    ids: NotRequired[list[str] | None]
    fields: NotRequired[list[str] | None]
    version: NotRequired[int | None]


class StateOutputs(TypedDict):
    """The outputs of universe-state: the state, or the part of it that was asked for."""

    state: Plain
    version: int
    universe_id: str
    name: str
    not_found: list[str]


class JobParams(UniverseParams):
    """The parameters of universe-nbody and universe-transits, which are the options of a job."""

    version: NotRequired[int | None]
    max_seconds: NotRequired[float | None]
    days: NotRequired[float | None]
    bodies: NotRequired[list[str] | None]
    method: NotRequired[str | None]
    step: NotRequired[float | None]
    relativity: NotRequired[bool | None]
    on_collision: NotRequired[str | None]
    observer: NotRequired[list[float] | None]
    kepler: NotRequired[bool | None]


class JobOutputs(TypedDict):
    """What the nodes of jobs have in common."""

    job_id: str
    universe_id: str
    version: int


class RunOutputs(JobOutputs):
    """The outputs of universe-nbody."""

    verdict: str | None
    headline: str | None
    trustworthy: bool | None
    error_degrees: float | None
    result: RunReply


class TransitOutputs(JobOutputs):
    """The outputs of universe-transits."""

    planets: dict[str, PlanetTransits]
    headline: str | None
    error_seconds: float | None
    result: TransitReply
