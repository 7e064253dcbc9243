"""Tests of the stored state of a session, which contains no key."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from paper_search.config import AppConfig, LLMConfig, SearchSourceConfig
from paper_search.errors import SessionFailed, SessionNotFound
from paper_search.service.sessions import SessionManager, reply_builder
from paper_search.store.session_state import SessionRequest, SessionState, read_session_state
from paper_search.testing import FakeSource
from tests.paper_search.service.sessions.helpers import (
    APPROVE,
    REJECT,
    DataFolder,
    complete_session,
    make_moon_papers,
    open_review,
    open_session,
)
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.store.inbox import InboxDecision, MemoryInbox

AT = datetime(2026, 1, 1, tzinfo=UTC)
KEY = "k3y-0f-the-s0urce"
MODEL_KEY = "k3y-0f-the-m0del"


def make_config_with_keys(key: str = KEY, model_key: str = MODEL_KEY, provider: str = "openai") -> AppConfig:
    sources = {name: SearchSourceConfig(name=name, api_key=SecretStr(key), rate_limit=2.5) for name in ("a", "b")}
    return AppConfig(
        llm=LLMConfig(provider=provider, model="m", api_key=SecretStr(model_key), temperature=0.5),
        sources=sources,
        default_max_results=7,
        max_rounds=2,
    )


def list_keys(config: AppConfig) -> list[str]:
    return [secret.get_secret_value() for secret in (config.llm.api_key, *(s.api_key for s in config.sources.values()))]


def test_the_request_of_a_session_is_stored_without_any_key(tmp_path: Path) -> None:
    config = make_config_with_keys().model_copy(update={"record_dir": tmp_path})
    stored = SessionRequest.from_config("icy moons", config, AT).model_dump_json()
    assert KEY not in stored
    assert MODEL_KEY not in stored
    assert "icy moons" in stored


def test_a_restored_config_has_the_stored_settings_and_the_present_keys() -> None:
    config = make_config_with_keys()
    asked = SessionRequest.model_validate_json(SessionRequest.from_config("icy moons", config, AT).model_dump_json())
    assert (asked.query, asked.at) == ("icy moons", AT)
    present = make_config_with_keys("new source key", "new model key").model_copy(update={"default_max_results": 99})
    back = asked.restore_config(present)
    assert list_keys(back) == ["new model key", "new source key", "new source key"]
    without = config.model_copy(deep=True)
    for keyed in (without.llm, *without.sources.values(), back.llm, *back.sources.values()):
        keyed.api_key = SecretStr("")
    assert back == without


def test_keys_that_are_no_longer_set_are_not_used() -> None:
    asked = SessionRequest.from_config("icy moons", make_config_with_keys(), AT)
    assert list_keys(asked.restore_config(AppConfig())) == ["", "", ""]


def test_a_key_is_never_given_to_a_model_of_another_provider() -> None:
    asked = SessionRequest.from_config("icy moons", make_config_with_keys(provider="openai"), AT)
    assert asked.restore_config(make_config_with_keys(provider="anthropic")).llm.api_key.get_secret_value() == ""


def test_a_key_is_never_given_to_a_model_at_another_address() -> None:
    other_config = make_config_with_keys()
    other_config.llm.base_url = "https://models.example/v1"
    asked = SessionRequest.from_config("icy moons", other_config, AT)
    assert asked.restore_config(make_config_with_keys()).llm.api_key.get_secret_value() == ""


def test_a_key_set_after_the_session_was_opened_is_used_when_it_is_restored() -> None:
    asked = SessionRequest.from_config("icy moons", AppConfig(), AT)
    back = asked.restore_config(make_config_with_keys())
    assert back.sources["a"].api_key.get_secret_value() == KEY


def test_an_unknown_session_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(SessionNotFound):
        read_session_state(DataFolder(tmp_path).store(), MemoryInbox(), new_id())


def read_stored_state(data_folder: DataFolder, session_id: str) -> SessionState:
    inbox = data_folder.inbox()
    try:
        return read_session_state(data_folder.store(), inbox, session_id)
    finally:
        inbox.close()


async def open_second_strategy(manager: SessionManager, _data_folder: DataFolder) -> Any:
    return await manager.decide((await open_review(manager))["session_id"], REJECT)


async def open_failed_session(manager: SessionManager, data_folder: DataFolder) -> Any:
    data_folder.engine.failures["dedup"] = Unavailable("The deduplicator failed.")
    session_id = (await open_session(manager))["session_id"]
    with pytest.raises(SessionFailed, match="The deduplicator failed"):
        await manager.decide(session_id, APPROVE)
    return await manager.get_state(session_id)


STAGES: dict[str, Callable[[SessionManager, DataFolder], Awaitable[dict[str, Any]]]] = {
    "first checkpoint": lambda manager, _: open_session(manager),
    "review": lambda manager, _: open_review(manager),
    "second round": open_second_strategy,
    "complete": lambda manager, _: complete_session(manager),
    "failed": open_failed_session,
}


@pytest.mark.parametrize(
    "reach",
    [pytest.param(reach, id=name) for name, reach in STAGES.items()],
)
async def test_the_stored_state_equals_the_state_of_the_running_session(
    tmp_path: Path, reach: Callable[[SessionManager, DataFolder], Awaitable[dict[str, Any]]]
) -> None:
    data_folder = DataFolder(
        tmp_path, FakeSource("alpha", make_moon_papers(30)), FakeSource("beta", error=Unavailable("Closed."))
    )
    async with data_folder.open_manager() as manager:
        reply = await reach(manager, data_folder)
        session_id = reply["session_id"]
        assert await manager.get_state(session_id) == reply
        on_disk = await asyncio.to_thread(read_stored_state, data_folder, session_id)
        assert reply_builder.build_reply(on_disk, data_folder.clock.now()) == reply
    async with data_folder.open_manager() as another:
        assert await another.get_state(session_id) == reply


async def test_a_session_with_a_stored_decision_that_is_not_carried_out_is_working(tmp_path: Path) -> None:
    data_folder = DataFolder(tmp_path)
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager)
    inbox = data_folder.inbox()
    inbox.decide(reply["checkpoint_id"], InboxDecision(action="approve"), "console")
    inbox.close()
    state = read_stored_state(data_folder, reply["session_id"])
    assert (state.pending, state.ended, state.iteration, state.phase) == (None, None, 1, "working")
    assert not state.has_passed_checkpoint(reply["checkpoint_id"])


async def test_a_checkpoint_that_is_missing_in_the_inbox_still_waits(
    tmp_path: Path,
) -> None:
    data_folder = DataFolder(tmp_path)
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager)
    state = read_session_state(data_folder.store(), MemoryInbox(), reply["session_id"])
    assert (state.checkpoint_id, state.iteration, state.ended) == (reply["checkpoint_id"], 0, None)


def make_state(**changes: object) -> SessionState:
    return SessionState(new_id(), "moons", AT, **changes)  # pyright: ignore[reportArgumentType]


async def test_a_session_has_passed_a_checkpoint_at_the_next_one_or_at_its_end(tmp_path: Path) -> None:
    data_folder = DataFolder(tmp_path)
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager)
        session = manager.get(reply["session_id"])
        assert session is not None
        at_first = session.get_state()
        await manager.decide(reply["session_id"], APPROVE)
        at_second = session.get_state()
        await manager.decide(reply["session_id"], APPROVE)
        at_end = session.get_state()
    cases: list[tuple[SessionState, str | None, bool]] = [
        (make_state(), None, False),
        (make_state(), reply["checkpoint_id"], False),
        (at_first, None, True),
        (at_first, at_first.checkpoint_id, False),
        (at_second, at_first.checkpoint_id, True),
        (at_end, at_second.checkpoint_id, True),
    ]
    left: Callable[[SessionState, str | None], bool] = SessionState.has_passed_checkpoint
    assert [left(given, past) for given, past, _ in cases] == [expected for *_, expected in cases]


async def test_the_age_of_a_session_survives_its_reload(tmp_path: Path) -> None:
    data_folder = DataFolder(tmp_path)
    async with data_folder.open_manager() as manager:
        reply = await open_session(manager)
    data_folder.clock.advance(hours=5)
    async with data_folder.open_manager() as manager:
        again = await manager.get_state(reply["session_id"])
    assert again["elapsed_s"] == pytest.approx(timedelta(hours=5).total_seconds(), abs=1)
