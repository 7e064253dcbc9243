import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from pydantic import SecretStr

from paper_search.errors import CreditsExhaustedError, NonRetryableError, NotRecordedError, RetryableError
from paper_search.skills.searcher import Searcher
from paper_search.sources.http_source import HttpSource
from paper_search.sources.interfaces import Request, Response, Transport
from paper_search.sources.transport.answer_cache import DamagedEntry
from paper_search.sources.transport.http_transport import HttpTransport
from paper_search.sources.transport.recording import MANIFEST, InvalidRecording, RecordedOptions, Recording
from paper_search.sources.transport.request_policies import Auth, SourcePolicy
from paper_search.testing import FakeTransport, FrozenClock
from paper_search.workflow.skill_interfaces import SearchOutcome
from tests.paper_search.sources.loopback_server import make_reply, open_loopback
from tests.paper_search.sources.tiny_definition import URL, TinyDefinition, make_page, make_strategy
from uraniborg.kernel.errors import InvalidInput

NOW = datetime(2026, 3, 31, 12, tzinfo=UTC)
SECRET = "s3cr3t-key-1234567"
REQUEST = Request("tiny", URL)


def create_recording(folder: Path, **options: Any) -> Recording:
    return Recording.create(folder, query="graphene", options=RecordedOptions(**options), clock=FrozenClock(NOW))


async def record_requests(folder: Path, inner: Transport, *requests: Request) -> list[Any]:
    transport = create_recording(folder).make_recording_transport(inner)
    ends = [await get_outcome(transport, request) for request in requests]
    await transport.aclose()
    return ends


async def get_outcome(transport: Transport, request: Request) -> Any:
    try:
        return await transport.send(request)
    except (RetryableError, NonRetryableError) as error:
        return (type(error), vars(error))


async def test_answers_and_failures_are_replayed_in_order_and_equal(tmp_path: Path) -> None:
    answers = [
        RetryableError("slow", rate_limited=True, retry_after_s=90.0, retry_at=NOW, calls=3, seconds=2.5),
        Response(200, b'{"a":1}', {"link": "x"}, seconds=0.25, calls=2),
        CreditsExhaustedError("credits", retry_at=NOW),
        Response(200, b"\xff\x00", seconds=0.5),
    ]
    live = await record_requests(tmp_path, FakeTransport({URL: answers}), *[REQUEST] * 4)
    replay = Recording.open(tmp_path).make_replay_transport()
    assert [await get_outcome(replay, REQUEST) for _ in range(4)] == live
    assert await get_outcome(replay, REQUEST) == live[-1]


@pytest.mark.parametrize("field_list", ["select", "fields"])
async def test_a_request_for_more_fields_than_were_recorded_gets_the_recorded_answer(
    tmp_path: Path, field_list: str
) -> None:
    def asking(fields: str, words: str = "graphene") -> Request:
        return Request("tiny", URL, (("q", words), (field_list, fields)))

    live = await record_requests(tmp_path, FakeTransport({URL: Response(200, b"{}", seconds=0.5)}), asking("a,b"))
    replay = Recording.open(tmp_path).make_replay_transport()
    assert [await get_outcome(replay, asking("a,b,c"))] == live
    with pytest.raises(NotRecordedError):
        await replay.send(asking("a,b", "diamond"))


async def test_a_closed_replay_starts_again(tmp_path: Path) -> None:
    await record_requests(tmp_path, FakeTransport({URL: [Response(200, b"1"), Response(200, b"2")]}), REQUEST, REQUEST)
    replay = Recording.open(tmp_path).make_replay_transport()
    assert (await replay.send(REQUEST)).body == b"1"
    await replay.aclose()
    assert (await replay.send(REQUEST)).body == b"1"


async def test_a_request_that_was_not_recorded_is_refused_with_a_hint(tmp_path: Path) -> None:
    await record_requests(tmp_path, FakeTransport({}))
    with pytest.raises(NotRecordedError) as caught:
        await Recording.open(tmp_path).make_replay_transport().send(REQUEST)
    assert "tiny" in caught.value.message
    assert "options" in caught.value.hint
    assert caught.value.ids["calls"] == 0


async def test_a_recording_stores_its_query_and_time(tmp_path: Path) -> None:
    recording = create_recording(tmp_path, max_results=20, sources=["tiny"], domain="general")
    await recording.make_recording_transport(FakeTransport({URL: make_page("A")})).send(REQUEST)
    await recording.make_recording_transport(FakeTransport({})).aclose()
    opened = Recording.open(tmp_path)
    assert (opened.query, opened.options) == (
        "graphene",
        RecordedOptions(max_results=20, sources=["tiny"], domain="general"),
    )
    assert opened.clock.now() == recording.clock.now() == NOW


async def test_the_inner_transport_is_closed_with_the_recording(tmp_path: Path) -> None:
    inner = FakeTransport({})
    await create_recording(tmp_path).make_recording_transport(inner).aclose()
    assert inner.closed


def make_searcher(transport: Transport, **options: Any) -> Searcher:
    return Searcher([HttpSource(TinyDefinition(name), transport, **options) for name in ("one", "two", "three")])


async def record_and_replay(
    folder: Path, inner: Transport, run: Callable[[Searcher], Any], **options: Any
) -> tuple[str, str]:
    recording = create_recording(folder)
    transport = recording.make_recording_transport(inner)
    live = await run(make_searcher(transport, **options))
    await transport.aclose()
    again = await run(make_searcher(Recording.open(folder).make_replay_transport(), **options))
    return live, again


async def run_rounds(searcher: Searcher) -> str:
    """Search two rounds, the second with a query of the first."""
    first = SearchOutcome.from_papers(await searcher.search(make_strategy("a", "b", year_from=2000, max_results=30)))
    second = SearchOutcome.from_papers(await searcher.search(make_strategy("b", "c")))
    return first.model_dump_json() + second.model_dump_json()


class FlakyTransport(FakeTransport):
    """A transport that sometimes fails and never repeats an answer."""

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        count = len(self.requests)
        if count % 4 == 0:
            raise RetryableError(f"failure {count}", calls=3, seconds=count / 8)
        if count % 7 == 0:
            raise CreditsExhaustedError(f"credits {count}", retry_at=NOW, calls=1, seconds=0.1)
        items = [{"title": f"Paper {count}.{i}", "year": 1995 + i} for i in range(9)]
        return make_page(*items, seconds=count / 16, total=count, follow=[f"{URL}/{count}"] if count % 3 == 0 else [])


async def test_a_replayed_search_gives_the_same_result(tmp_path: Path) -> None:
    live, again = await record_and_replay(tmp_path, FlakyTransport({}), run_rounds)
    assert live == again
    assert '"failed"' in live or '"partial":true' in live


class SilentTransport(FakeTransport):
    """A transport that answers once and then never again."""

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        if len(self.requests) > 4:
            await asyncio.Event().wait()
        return make_page(f"Paper {len(self.requests)}", follow=[f"{URL}/{len(self.requests)}"], seconds=0.5)


async def test_a_replayed_search_reaches_its_deadline_again(tmp_path: Path) -> None:
    async def run(searcher: Searcher) -> str:
        return SearchOutcome.from_papers(await searcher.search(make_strategy("a"))).model_dump_json()

    live, again = await record_and_replay(tmp_path, SilentTransport({}), run, deadline_s=0.1)
    assert live == again
    assert "Did not finish within 0.1 s." in live


async def test_a_source_without_its_key_is_skipped_in_the_replay(tmp_path: Path) -> None:
    inner = HttpTransport({name: SourcePolicy(missing_key="Set KEY.") for name in ("one", "two", "three")})
    live, again = await record_and_replay(tmp_path, inner, run_rounds)
    assert live == again
    assert live.count('"skipped"') == 6


async def test_no_key_is_written_into_the_folder(tmp_path: Path) -> None:
    body = json.dumps({"items": [], "you_sent": SECRET, "next": f"/?key={SECRET}"}).encode()
    for place in ("param", "header"):
        folder = tmp_path / place
        policy = SourcePolicy(rate_per_s=1000, attempts=1, auth=Auth(place, "key", SecretStr(SECRET)))
        async with open_loopback(make_reply(200, body, {"Link": "x"}), make_reply(401, body)) as site:
            await record_requests(folder, HttpTransport({"tiny": policy}), *[Request("tiny", site.url)] * 2)
        assert SECRET in site.requests[0]
        written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        assert b"you_sent" in written
        assert SECRET.encode() not in written


async def test_two_recordings_of_the_same_answers_are_the_same_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        await record_requests(tmp_path / name, FakeTransport({URL: make_page("A", "B")}), REQUEST)
    one, two = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        (None, "no recording.json"),
        ("", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[]", "cannot be used"),
        ('{"format": 2, "recorded_at": "2026-01-01T00:00:00Z", "query": "x"}', "format"),
        ('{"format": 1, "recorded_at": "yesterday", "query": "x"}', "recorded_at"),
        ('{"format": 1, "recorded_at": "2026-01-01T00:00:00", "query": "x"}', "timezone"),
        (
            '{"format": 1, "recorded_at": "2026-01-01T00:00:00Z", "query": "x", "complete": false}',
            "unfinished recording",
        ),
    ],
)
def test_a_folder_that_is_not_a_recording_is_refused_with_a_reason(
    tmp_path: Path, manifest: str | None, says: str
) -> None:
    if manifest is not None:
        (tmp_path / MANIFEST).write_text(manifest, encoding="utf-8")
    with pytest.raises(InvalidRecording, match=says) as caught:
        Recording.open(tmp_path)
    assert isinstance(caught.value, InvalidInput)
    assert caught.value.hint


def test_a_missing_folder_and_a_file_are_refused_with_an_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x", encoding="utf-8")
    with pytest.raises(InvalidRecording, match="does not exist"):
        Recording.open(tmp_path / "absent")
    with pytest.raises(InvalidRecording, match="not a recording"):
        Recording.open(file)


async def test_a_damaged_answer_is_found_when_the_recording_is_opened(tmp_path: Path) -> None:
    await record_requests(tmp_path, FakeTransport({URL: make_page("A")}), REQUEST)
    (path,) = tmp_path.glob("tiny-*.json")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DamagedEntry, match=path.name):
        Recording.open(tmp_path)


async def test_an_incomplete_recording_is_refused(tmp_path: Path) -> None:
    transport = create_recording(tmp_path).make_recording_transport(FakeTransport({URL: make_page("A")}))
    await transport.send(REQUEST)
    with pytest.raises(InvalidRecording, match="unfinished recording"):
        Recording.open(tmp_path)
    await transport.aclose()
    assert Recording.open(tmp_path).outcomes


def test_a_folder_that_is_not_empty_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidRecording, match="not empty"):
        create_recording(tmp_path)
    with pytest.raises(InvalidRecording, match="cannot be written"):
        create_recording(tmp_path / "thesis.tex")


@pytest.mark.parametrize("writer", ["answer_cache", "recording"])
async def test_a_disk_error_leaves_the_recording_incomplete_and_the_search_unchanged(
    writer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = FakeTransport({URL: make_page("A")})
    transport = create_recording(tmp_path).make_recording_transport(inner)

    def refuse(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"paper_search.sources.transport.{writer}.write_atomic", refuse)
    assert (await transport.send(REQUEST)).status == 200
    await transport.aclose()
    assert inner.closed
    with pytest.raises(InvalidRecording, match="unfinished recording"):
        Recording.open(tmp_path)


async def test_neither_recording_nor_replaying_blocks_the_event_loop(tmp_path: Path) -> None:
    recording = create_recording(tmp_path)
    with blockbuster_ctx("paper_search"):
        transport = recording.make_recording_transport(FakeTransport({URL: make_page("A")}))
        await transport.send(REQUEST)
        await transport.aclose()
        replay = (await asyncio.to_thread(Recording.open, tmp_path)).make_replay_transport()
        assert (await replay.send(REQUEST)).status == 200


@pytest.mark.parametrize("options", [{"max_results": "x"}, {"max_results": 0}, {"sources": "abc"}, {"colour": "red"}])
def test_a_manifest_with_invalid_options_is_refused(tmp_path: Path, options: Any) -> None:
    create_recording(tmp_path / "r").write_manifest(complete=True)
    manifest = tmp_path / "r" / "recording.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "options": options}))
    with pytest.raises(InvalidRecording):
        Recording.open(tmp_path / "r")
