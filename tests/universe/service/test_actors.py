"""Every operation that changes something records its actor, in every store, and for good."""

import inspect
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from tests.universe.domain.samples import add_star
from universe.domain import systems
from universe.service.jobs.job_service import JobService
from universe.service.reply_encoding import describe_deletion, describe_log_entry, describe_record
from universe.service.universes import UniverseService
from universe.service.verification import verify_log
from universe.store.factory import make_store
from universe.store.interface import StoredEntry
from universe.store.log_encoding import find_actor, is_author, make_author
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.actors import Actor, decode_actor, describe_actor, get_process_actor
from uraniborg.kernel.store.audit_log import read_changes

TICK: Final = {"type": "tick", "dt": 1}
LONG: Final = {"kind": "nbody", "days": 4_000_000, "bodies": ["trappist-1", "trappist-1-b"]}
SHORT: Final = {**LONG, "days": 2}
AUTHENTICATIONS: Final = ("sign_in", "token", "credential", "terminal", "dialog", "account", "none")
ACTORS: Final = [
    Actor(kind=kind, name=name, authenticated=authenticated)
    for kind in ("person", "agent", "software")
    for authenticated in AUTHENTICATIONS
    for name in ("Tycho", "Tycho (console)", "Sophie Bråhe (REST)", "", "person", "agent", "software", "MCP client")
]
TYCHO: Final = Actor(kind="person", name="Tycho", authenticated="sign_in")
OTHER: Final = Actor(kind="agent", name="claude 1.0", authenticated="credential")

# The operations of each service: those that change something, and the facts that then name the actor.

Find = Callable[[UniverseService], Awaitable[Any]]


async def last_entry(service: UniverseService) -> Any:
    record = await service.read_record("u")
    (entry,) = await service.read_history("u", after=record.version - 1)
    return describe_log_entry(entry, "u")["actor"]


async def create(service: UniverseService) -> Any:
    await service.create("Hven", universe_id="new", actor=TYCHO)
    return describe_record(await service.read_record("new"))["createdBy"]


async def create_with_state(service: UniverseService) -> Any:
    await service.create("T", systems.load_system("trappist-1"), universe_id="new", actor=TYCHO)
    return describe_log_entry((await service.read_history("new"))[0], "new")["actor"]


async def rename(service: UniverseService) -> Any:
    await service.rename("u", "Stjerneborg", actor=TYCHO)
    return describe_record(await service.read_record("u"))["renamedBy"]


async def replace_name(service: UniverseService) -> Any:
    await service.replace("u", name="Stjerneborg", actor=TYCHO)
    return describe_record(await service.read_record("u"))["renamedBy"]


async def replace_state(service: UniverseService) -> Any:
    await service.replace("u", state={"time": 3}, actor=TYCHO)
    return await last_entry(service)


async def put(service: UniverseService) -> Any:
    await service.put("u", {"time": 3}, actor=TYCHO)
    return await last_entry(service)


async def delete(service: UniverseService) -> Any:
    await service.delete("u", actor=TYCHO)
    (deletion,) = await service.list_deletions(limit=10)
    assert (deletion.universe_id, deletion.name, deletion.version) == ("u", "Hven", 2)
    return describe_deletion(deletion)["deletedBy"]


async def send(service: UniverseService) -> Any:
    await service.send("u", TICK, actor=TYCHO)
    return await last_entry(service)


async def send_batch(service: UniverseService) -> Any:
    await service.send("u", [TICK, TICK, TICK], actor=TYCHO)
    described = [describe_log_entry(entry, "u")["actor"] for entry in await service.read_history("u", after=2)]
    assert described == [TYCHO.model_dump()] * 3
    return described[-1]


async def undo(service: UniverseService) -> Any:
    await service.undo("u", actor=TYCHO)
    return await last_entry(service)


async def restore(service: UniverseService) -> Any:
    await service.restore("u", 1, actor=TYCHO)
    return await last_entry(service)


async def branch(service: UniverseService) -> Any:
    made = await service.branch("u", actor=TYCHO)
    assert describe_record(await service.read_record(made.id))["createdBy"] == TYCHO.model_dump()
    return describe_log_entry((await service.read_history(made.id))[0], made.id)["actor"]


CHANGES: Final[dict[str, list[Find]]] = {
    "create": [create, create_with_state],
    "rename": [rename],
    "replace": [replace_name, replace_state],
    "put": [put],
    "delete": [delete],
    "send": [send, send_batch],
    "undo": [undo],
    "restore": [restore],
    "branch": [branch],
}
READS: Final = {
    *("list_records", "list_deletions", "read_record", "view", "read_stars", "read_history", "keep_in_memory"),
    *("add_change_listener", "wake_event_streams", "ping", "running"),
}
JOB_CHANGES: Final = {"create", "cancel", "delete"}
JOB_READS: Final = {
    *("list_jobs", "get", "find", "read_result", "read_plot", "read_series", "read_trajectory", "compare", "watch"),
    *("wait", "running", "close_streams"),
}


def list_operations(service: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(service, callable) if not name.startswith("_")}


@pytest.mark.parametrize(
    ("service", "changes", "reads"),
    [(UniverseService, set(CHANGES), READS), (JobService, JOB_CHANGES, JOB_READS)],
)
def test_every_operation_that_changes_something_takes_an_actor(
    service: type, changes: set[str], reads: set[str]
) -> None:
    unknown = list_operations(service) ^ (changes | reads)
    assert not unknown, f"{unknown}: an operation that changes something takes an actor and has a test here"
    for name in changes:
        assert "actor" in inspect.signature(getattr(service, name)).parameters, name


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def stored(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[UniverseService]:
    """Provide a service over each kind of store, with the universe `u` at version 2, which another actor made."""
    addresses = {
        "memory": lambda: "memory:",
        "sqlite": lambda: f"sqlite:///{tmp_path / 'universes.db'}",
        "postgres": lambda: request.getfixturevalue("postgres_dsn"),
    }
    async with UniverseService(make_store(addresses[request.param]()), actor=OTHER).running() as service:
        await service.create("Hven", universe_id="u")
        await service.send("u", [TICK, TICK])
        yield service


@pytest.mark.parametrize("change", [one for changes in CHANGES.values() for one in changes])
async def test_an_operation_stores_its_actor_with_what_it_changed(stored: UniverseService, change: Find) -> None:
    assert await change(stored) == TYCHO.model_dump()
    for record in await stored.list_records(limit=10):
        assert (await verify_log(stored.store, record.id)).is_intact


async def test_a_change_without_an_actor_has_that_of_the_service(stored: UniverseService) -> None:
    assert await last_entry(stored) == OTHER.model_dump()
    assert describe_record(await stored.read_record("u"))["createdBy"] == OTHER.model_dump()


async def test_a_program_that_names_no_actor_is_software_of_its_account(service: UniverseService) -> None:
    await service.send("u", TICK)
    actor = await last_entry(service)
    assert actor == get_process_actor().model_dump()
    assert (actor["kind"], actor["authenticated"]) == ("software", "account")


@pytest.mark.parametrize("actor", ACTORS, ids=str)
async def test_every_actor_is_read_as_it_was_written(service: UniverseService, actor: Actor) -> None:
    await service.send("u", TICK, actor=actor)
    (entry,) = await service.read_history("u")
    assert entry.actor == actor
    assert entry.author


def test_an_author_is_the_description_of_its_actor_and_no_two_actors_have_the_same() -> None:
    claimed = Actor(kind="software", name="Tycho (console)", authenticated="none")
    assert make_author(claimed).name == "Tycho (console) (software)"
    assert make_author(TYCHO).name == describe_actor(TYCHO) == "Tycho"
    assert len({make_author(actor) for actor in ACTORS}) == len(ACTORS)


@pytest.mark.parametrize(
    ("author", "identity", "actor"),
    [
        ("Tycho (console)", "person sign_in", TYCHO),
        ("Tycho (command line)", "person account", Actor(kind="person", name="Tycho", authenticated="account")),
        ("Ada (agent) (dialog)", "person dialog", Actor(kind="person", name="Ada (agent)", authenticated="dialog")),
        ("person", "person dialog", Actor(kind="person", name="", authenticated="dialog")),
        ("claude 1.0 (MCP)", "agent credential", OTHER),
        ("MCP client", "agent none", Actor(kind="agent", name="", authenticated="none")),
        ("root (REST)", "software token", Actor(kind="software", name="root", authenticated="token")),
        ("REST client", "software none", Actor(kind="software", name="", authenticated="none")),
        ("maria", "software account", Actor(kind="software", name="maria", authenticated="account")),
        ("software", "software account", Actor(kind="software", name="", authenticated="account")),
    ],
)
def test_the_authors_of_earlier_versions_are_read_as_their_actors(author: str, identity: str, actor: Actor) -> None:
    assert find_actor(author, identity) == actor
    assert is_author(author, actor)
    assert is_author(make_author(actor).name, actor)
    assert not is_author(make_author(actor.model_copy(update={"name": "Eve"})).name, actor)


@pytest.mark.parametrize(
    "changed", [{"author": "Kepler (console)"}, {"identity": "person token"}, {"identity": None}, {"author": None}]
)
async def test_an_altered_actor_is_damage(service: UniverseService, changed: dict[str, Any]) -> None:
    await service.send("u", TICK, actor=TYCHO)
    (entry,) = await service.read_history("u")
    assert entry.is_intact("u")
    assert not entry._replace(**changed).is_intact("u")


@pytest.mark.parametrize("identity", [None, "", "person", "king sign_in", "person sign_in sign_in"])
def test_a_damaged_identity_is_an_unknown_actor(identity: str | None) -> None:
    assert find_actor("Tycho", identity) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kind": "king"}', "null"])
def test_a_damaged_actor_of_a_record_is_unknown(text: str) -> None:
    assert decode_actor(text) is None


async def test_actors_survive_a_restart_and_a_branch_has_its_own_after_its_source_is_gone(file: Path) -> None:
    async with UniverseService(SqliteStore(file)).running() as service:
        await service.create("Hven", universe_id="u", actor=OTHER)
        await service.send("u", add_star("ven"), actor=OTHER)
        made = await service.branch("u", actor=TYCHO)
        await service.send(made.id, TICK, actor=OTHER)
        await service.delete("u", actor=TYCHO)
    async with UniverseService(SqliteStore(file)).running() as service:
        assert [entry.actor for entry in await service.read_history(made.id)] == [TYCHO, OTHER]
        assert describe_record(await service.read_record(made.id))["createdBy"] == TYCHO.model_dump()
        (deletion,) = await service.list_deletions(limit=5)
        assert (deletion.universe_id, describe_deletion(deletion)["deletedBy"]) == ("u", TYCHO.model_dump())
        assert (await verify_log(service.store, made.id)).is_intact


async def test_a_database_without_actors_is_migrated_and_names_none(file: Path) -> None:
    async with UniverseService(SqliteStore(file)).running() as service:
        await service.create("Hven", universe_id="u")
        await service.send("u", TICK)
    with closing(sqlite3.connect(file)) as connection:
        body, events, at = connection.execute("SELECT body, events, at FROM log").fetchone()
        old = StoredEntry.make_with_digest("u", 1, "command", body, events, at, "Tycho (REST)")
        connection.execute("UPDATE log SET author = ?, digest = ?", (old.author, old.digest))
        for table, column in (("log", "identity"), ("universes", "created_by"), ("universes", "renamed_by")):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.execute("DROP TABLE deletions")
        connection.execute("DELETE FROM migrations WHERE name = '0005 actors'")
        connection.commit()
    file.with_name(f"{file.name}.mark").unlink()
    async with UniverseService(SqliteStore(file)).running() as service:
        described = describe_log_entry((await service.read_history("u"))[0], "u")
        assert (described["author"], described["actor"]) == ("Tycho (REST)", None)
        assert describe_record(await service.read_record("u"))["createdBy"] is None
        await service.send("u", TICK, actor=TYCHO)
        assert [entry.actor for entry in await service.read_history("u")] == [None, TYCHO]
        assert (await verify_log(service.store, "u")).is_intact


async def test_a_job_has_who_started_and_who_cancelled_it(file: Path) -> None:
    async with UniverseService(SqliteStore(file)).running() as service, JobService(service).running() as jobs:
        await service.create("T", systems.load_system("trappist-1"), universe_id="t1")
        started = await jobs.create("t1", LONG, actor=TYCHO)
        cancelled = await jobs.cancel("t1", started.id, actor=OTHER)
        assert (cancelled.actor, cancelled.cancelled_by) == (TYCHO, OTHER)
        own = await jobs.create("t1", SHORT)
        assert own.actor == get_process_actor()
        await jobs.wait("t1", own.id)
    async with UniverseService(SqliteStore(file)).running() as service, JobService(service).running() as jobs:
        described = (await jobs.get("t1", started.id)).describe()
        assert described["author"] == "Tycho"
        assert (described["actor"], described["cancelledBy"]) == (TYCHO.model_dump(), OTHER.model_dump())
        assert (await jobs.get("t1", own.id)).cancelled_by is None


async def test_the_log_of_changes_says_who_deleted_a_job_and_a_universe(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    async with UniverseService(SqliteStore(file)).running() as service, JobService(service).running() as jobs:
        await service.create("T", systems.load_system("trappist-1"), universe_id="t1")
        job = await jobs.wait("t1", (await jobs.create("t1", SHORT)).id)
        await jobs.delete("t1", job.id, actor=OTHER)
        await service.delete("t1", actor=TYCHO)
    assert [(one["change"], one["subject"], one["actor"]) for one in read_changes().changes] == [
        ("job deleted", job.id, OTHER.model_dump()),
        ("universe deleted", "t1", TYCHO.model_dump()),
    ]


async def test_jobs_of_a_release_without_actors_have_an_author_and_no_actor(file: Path) -> None:
    async with UniverseService(SqliteStore(file)).running() as service, JobService(service).running() as jobs:
        await service.create("T", systems.load_system("trappist-1"), universe_id="t1")
        job = await jobs.wait("t1", (await jobs.create("t1", SHORT, actor=TYCHO)).id)
    with closing(sqlite3.connect(file.with_name("universes.db.jobs"))) as connection:
        connection.execute("ALTER TABLE jobs DROP COLUMN actor")
        connection.execute("ALTER TABLE jobs DROP COLUMN cancelled_by")
        for index in ("jobs_by_universe", "jobs_by_number", "jobs_by_end"):
            connection.execute(f"DROP INDEX {index}")
        connection.execute("CREATE INDEX jobs_by_universe ON jobs (universe_id, created_at, id)")
        connection.execute("ALTER TABLE jobs DROP COLUMN number")
        connection.execute("ALTER TABLE jobs DROP COLUMN ended")
        connection.execute("DELETE FROM migrations WHERE name IN ('jobs-4', 'jobs-5')")
        connection.commit()
    async with UniverseService(SqliteStore(file)).running() as service, JobService(service).running() as jobs:
        described = (await jobs.get("t1", job.id)).describe()
        assert (described["author"], described["actor"]) == ("Tycho", None)
