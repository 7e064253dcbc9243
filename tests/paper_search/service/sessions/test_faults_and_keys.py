"""Invalid inbox entries, settings and journals, disk faults, and keys that must not be stored."""

# pyright: reportPrivateUsage=false

import errno
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from pydantic import SecretStr

from paper_search.config import AppConfig, LLMConfig, SearchSourceConfig
from paper_search.errors import (
    InvalidDecision,
    SessionFailed,
    SessionInterrupted,
    SessionNotFound,
)
from paper_search.service.sessions import SessionManager
from paper_search.store.session_files import SessionFiles
from paper_search.store.session_state import SessionRequest
from paper_search.workflow import Decision, DecisionAction
from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    REVIEW,
    DataFolder,
    list_stored_decisions,
    open_review,
    open_session,
    wait_until,
)
from tests.requirements import requirement
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.store.inbox import InboxDecision
from uraniborg.kernel.store.sqlite import DatabaseUnusable

UNFIT: list[InboxDecision] = [
    InboxDecision(action="dance"),
    InboxDecision(action="edit"),
    InboxDecision(action="edit", data={"sources": ["nowhere"]}),
    InboxDecision(action="edit", data=[1, 2, 3]),
    InboxDecision(action="approve", data={"queries": []}),
    InboxDecision(action="reject", data={"marked_relevant": ["p_unknown"]}),
    InboxDecision(action="reject", note="x" * 1_000_000),
]


@pytest.mark.parametrize("unfit", UNFIT, ids=lambda decision: f"{decision.action} {decision.data}")
@pytest.mark.parametrize("when", ["while it runs", "while no process runs it"])
async def test_an_invalid_decision_written_into_the_inbox_is_reopened(
    data_folder: DataFolder, unfit: InboxDecision, when: str
) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        with closing(data_folder.inbox()) as inbox:
            if when == "while it runs":
                inbox.decide(given, unfit, "force")
                await wait_until(lambda: inbox.get(given).state == "pending")
            else:
                await manager.aclose()
                inbox.decide(given, unfit, "force")
                manager = data_folder.create_manager()  # noqa: PLW2901 - another process
                await manager.get_state(session_id)
                await wait_until(lambda: inbox.get(given).state == "pending")
        session = manager.get(session_id)
        assert session is not None
        await wait_until(lambda: session.pending is not None)
        assert await manager.get_state(session_id) == reply
        assert (await manager.decide(session_id, APPROVE))["iteration"] == 1
        await manager.aclose()
    assert list_stored_decisions(data_folder, session_id) == ["decision-0"]


@pytest.mark.parametrize(
    "odd",
    [
        InboxDecision(action="reject", note="caf\udce9"),
        InboxDecision(action="reject", data={"free_text_feedback": "\ud800"}),
        InboxDecision(action="edit", data={"queries": [{"keywords": [], "boolean_query": "moons \ud800"}]}),
    ],
    ids=ascii,
)
@pytest.mark.parametrize("when", ["while it runs", "while no process runs it"])
async def test_a_decision_with_lone_surrogates_is_refused_and_does_not_end_the_session(
    data_folder: DataFolder, odd: InboxDecision, when: str
) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        if when == "while no process runs it":
            await manager.aclose()
        with closing(data_folder.inbox()) as inbox:
            with pytest.raises(InvalidInput, match="decision is not JSON"):
                inbox.decide(given, odd, "cli")
            if when == "while no process runs it":
                manager = data_folder.create_manager()  # noqa: PLW2901 - another process
                await manager.get_state(session_id)
            session = manager.get(session_id)
            assert session is not None
            await wait_until(
                lambda: (
                    session.is_complete
                    or inbox.get(given).state == "pending"
                    or session.get_state().has_passed_checkpoint(given)
                )
            )
        assert session.error is None
        await manager.aclose()


@requirement("PS-REQ-13")
async def test_keys_are_never_stored_and_come_from_the_present_settings(data_folder: DataFolder) -> None:
    def config(source_key: str, model_key: str) -> AppConfig:
        return AppConfig(
            llm=LLMConfig(provider="openai", api_key=SecretStr(model_key)),
            sources={"alpha": SearchSourceConfig(name="alpha", api_key=SecretStr(source_key))},
        )

    async with data_folder.open_manager() as manager:
        reply = await open_review(manager, config=config("old-source-key", "old-model-key"))
    for key in (b"old-source-key", b"old-model-key"):
        assert key not in data_folder.read_all_bytes()
    data_folder.present = config("new-source-key", "new-model-key")
    data_folder.engine.configs.clear()
    async with data_folder.open_manager() as manager:
        await manager.get_state(reply["session_id"])
        await manager.decide(reply["session_id"], APPROVE)
    used = data_folder.engine.configs[-1]
    assert used.sources["alpha"].api_key.get_secret_value() == "new-source-key"
    assert used.llm.api_key.get_secret_value() == "new-model-key"
    for key in (b"-source-key", b"-model-key"):
        assert key not in data_folder.read_all_bytes()


async def test_a_restored_session_uses_the_settings_it_was_opened_with(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager, config=AppConfig(default_max_results=7, domain="materials_science"))
    data_folder.present = AppConfig(default_max_results=500)
    data_folder.engine.configs.clear()
    async with data_folder.open_manager() as manager:
        assert await manager.get_state(reply["session_id"]) == reply
    assert {(used.default_max_results, used.domain) for used in data_folder.engine.configs} == {
        (7, "materials_science")
    }


class FaultyStore(SessionFiles):
    """A store that cannot write while `broken`, as with a full disk."""

    broken = False

    def write(self, session_id: str, step: str, value: str, *, create_session: bool = False) -> None:
        if self.broken:
            raise DatabaseUnusable("The database cannot be used: database or disk is full.", hint="Check the disk.")
        super().write(session_id, step, value, create_session=create_session)


async def test_a_full_disk_interrupts_the_session_and_a_later_call_continues_it(data_folder: DataFolder) -> None:
    store = FaultyStore(data_folder.folder / "sessions")
    async with data_folder.open_manager(store=store) as manager:
        reply = await open_session(manager)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        store.broken = True
        with pytest.raises(SessionInterrupted, match="disk is full") as caught:
            await manager.decide(session_id, APPROVE, checkpoint_id=given)
        assert str(data_folder.folder) not in str(caught.value.body())
        store.broken = False
        again: Any = await manager.decide(session_id, APPROVE, checkpoint_id=given)
        assert again["already_decided"]["action"] == "approve"
        assert (again["checkpoint_kind"], again["iteration"]) == (REVIEW, 1)
        assert (await manager.decide(session_id, APPROVE))["is_complete"]


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"no database at all" * 100,
    ],
    ids=["empty", "foreign"],
)
async def test_a_damaged_session_is_a_clear_error_and_the_others_continue(
    data_folder: DataFolder, damage: bytes
) -> None:
    async with data_folder.open_manager() as manager:
        broken, fine = await open_review(manager), await open_session(manager)
    data_folder.list_files(broken["session_id"])[0].write_bytes(damage)
    async with data_folder.open_manager() as manager:
        for call in (manager.get_state, manager.get_papers, partial(manager.decide, decision=APPROVE)):
            with pytest.raises((SessionInterrupted, DatabaseUnusable, SessionNotFound)) as caught:
                await call(broken["session_id"])
            assert str(data_folder.folder) not in str(caught.value.body())
        assert (await manager.decide(fine["session_id"], APPROVE)).get("checkpoint_kind") == REVIEW
        manager.cleanup(broken["session_id"])
    assert data_folder.list_files(broken["session_id"]) == []


@pytest.mark.parametrize("note", ["x" * 5_000, "caf\udce9"], ids=ascii)
async def test_a_decision_too_long_or_with_incomplete_characters_is_refused_at_once_for_every_caller(
    data_folder: DataFolder, manager: SessionManager, note: str
) -> None:
    reply = await open_session(manager)
    with pytest.raises(InvalidDecision):
        await manager.decide(reply["session_id"], Decision(action=DecisionAction.REJECT, note=note))
    assert await manager.get_state(reply["session_id"]) == reply
    with closing(data_folder.inbox()) as inbox:
        assert inbox.get(reply["checkpoint_id"]).state == "pending"


@requirement("PS-E7")
@pytest.mark.parametrize("failure", [TimeoutError("too late"), ConnectionResetError(104, "Connection reset")])
async def test_an_error_in_a_stage_fails_the_session_even_if_it_is_an_os_error(
    data_folder: DataFolder, manager: SessionManager, failure: Exception
) -> None:
    data_folder.engine.failures["dedup"] = failure
    reply = await open_session(manager)
    with pytest.raises(SessionFailed):
        await manager.decide(reply["session_id"], APPROVE)
    assert (await manager.get_state(reply["session_id"]))["is_complete"]


async def test_a_session_interrupted_by_lack_of_memory_or_disk_continues_later(
    data_folder: DataFolder, manager: SessionManager
) -> None:
    data_folder.engine.failures["dedup"] = OSError(errno.EMFILE, "Too many open files")
    reply = await open_session(manager)
    with pytest.raises(SessionInterrupted, match="Too many open files"):
        await manager.decide(reply["session_id"], APPROVE)
    data_folder.engine.failures.clear()
    again: Any = await manager.decide(reply["session_id"], APPROVE, checkpoint_id=reply["checkpoint_id"])
    assert (again["checkpoint_kind"], again["iteration"]) == (REVIEW, 1)


async def test_a_session_with_settings_of_another_version_is_reported(data_folder: DataFolder) -> None:
    session_id = new_id()
    asked = SessionRequest.from_config("moons", AppConfig(), data_folder.clock.now())
    asked.config["of_the_future"] = True
    data_folder.store().write(session_id, "session", asked.model_dump_json(), create_session=True)
    async with data_folder.open_manager() as manager:
        with pytest.raises(SessionInterrupted, match="settings that this version does not know"):
            await manager.get_state(session_id)


async def test_secrets_in_addresses_are_not_stored_and_the_folder_is_private(data_folder: DataFolder) -> None:
    config = AppConfig(llm=LLMConfig(base_url="https://ada:s3cret-passw0rd@models.example/v1"))
    async with data_folder.open_manager() as manager:
        await open_session(manager, config=config)
    assert b"s3cret-passw0rd" not in data_folder.read_all_bytes()
    assert (data_folder.folder / "sessions").stat().st_mode & 0o077 == 0
    asked = SessionRequest.from_config("moons", config, data_folder.clock.now())
    assert asked.restore_config(config).llm.base_url == config.llm.base_url
