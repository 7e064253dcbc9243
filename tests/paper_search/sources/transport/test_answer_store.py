import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.errors import (
    CallLimitError,
    CreditsExhaustedError,
    MissingKeyError,
    NonRetryableError,
    RetryableError,
    SearchSourceError,
)
from paper_search.sources.interfaces import Request, Response
from paper_search.sources.transport.answer_cache import (
    AnswerStore,
    DamagedEntry,
    StoredAnswer,
    StoredFailure,
    StoredTimeout,
)

LATER = datetime(2026, 4, 1, tzinfo=UTC)
REQUEST = Request("tiny", "https://tiny.example/works", (("q", "ö"),), (("accept", "x"),), (("id", "1"), ("id", "2")))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def replay_outcome(store: AnswerStore, request: Request = REQUEST, time: int = 0) -> Response:
    entry = store.read_entry(request)
    assert entry is not None
    return entry.outcomes[time].replay()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b'{"a":1}',
        b'{"a": 1}',
        b'{"a":1,"a":2}',
        b'{"a":"\\u00f6"}',
        '{"a":"ö\u2028"}'.encode(),
        b'{"a":"\\ud800"}',
        b'"\\/"',
        b"NaN",
        b"1e999",
        b"1E5",
        b"<xml>\r\n</xml>\n\n",
        b"\xff\xfe\x00",
        b"\xef\xbb\xbf{}",
        b"[" * 5000,
    ],
)
def test_every_body_comes_back_byte_for_byte(body: bytes, tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    answer = Response(200, body, {"content-type": "x"}, seconds=0.125, calls=3)
    store.write_entry(REQUEST, [StoredAnswer.from_response(answer)])
    assert replay_outcome(store) == answer


@given(st.binary())
def test_storing_a_body_changes_no_byte(body: bytes) -> None:
    assert StoredAnswer.from_response(Response(200, body)).replay().body == body


@given(JSON)
def test_compact_json_is_stored_as_json(value: Any) -> None:
    try:
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return
    stored = StoredAnswer.from_response(Response(200, body))
    assert stored.replay().body == body
    assert stored.encoding == "json"


def test_files_can_be_read_and_compared_by_people(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "made" / "on demand")
    store.write_entry(REQUEST, [StoredAnswer.from_response(Response(200, b'{"title":"A","year":2020}'))])
    (path,) = store.folder.iterdir()
    assert path.name.startswith("tiny-")
    text = path.read_text(encoding="utf-8")
    assert '"ö"' in text
    assert '"title": "A",\n' in text
    store.write_entry(REQUEST, [StoredAnswer.from_response(Response(200, b"<a>\n<b>\n"))])
    assert '"<a>\\n",\n' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "error",
    [
        RetryableError(
            "slow", hint="wait", rate_limited=True, retry_after_s=30.0, retry_at=LATER, calls=3, seconds=1.5
        ),
        RetryableError("down"),
        NonRetryableError("refused", source="tiny"),
        CallLimitError("budget"),
        CreditsExhaustedError("credits", retry_at=LATER),
        MissingKeyError("set KEY", calls=0),
        SearchSourceError("odd"),
    ],
)
def test_a_stored_failure_is_raised_unchanged(error: SearchSourceError, tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    store.write_entry(REQUEST, [StoredFailure.from_error(error)])
    for _ in range(2):
        with pytest.raises(type(error)) as caught:
            replay_outcome(store)
        again = caught.value
        assert type(again) is type(error)
        assert vars(again) == vars(error)


def test_ids_that_are_not_plain_values_are_dropped_from_a_stored_failure() -> None:
    assert StoredFailure.from_error(NonRetryableError("x", source="tiny", path=Path(), many=[1])).ids == {
        "source": "tiny"
    }


def test_outcomes_keep_their_order(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    store.write_entry(
        REQUEST,
        [
            StoredFailure.from_error(RetryableError("x")),
            StoredAnswer.from_response(Response(200, b"2")),
            StoredTimeout(),
        ],
    )
    with pytest.raises(RetryableError):
        replay_outcome(store)
    assert replay_outcome(store, time=1).body == b"2"
    with pytest.raises(TimeoutError):
        replay_outcome(store, time=2)


def test_a_missing_or_removed_entry_is_none(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "absent")
    assert store.read_entry(REQUEST) is None
    store.remove_entry(REQUEST)
    store.write_entry(REQUEST, [StoredTimeout()])
    store.remove_entry(REQUEST)
    assert store.read_entry(REQUEST) is None
    assert list(store.folder.iterdir()) == []


def test_a_file_of_another_request_is_not_used(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    other = Request("tiny", "https://tiny.example/other")
    store.write_entry(other, [StoredTimeout()])
    store.get_path(other).rename(store.get_path(REQUEST))
    assert store.read_entry(REQUEST) is None


def test_a_source_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "inside")
    store.write_entry(Request("../../evil\x00", "https://a.example"), [StoredTimeout()])
    assert [path.parent for path in tmp_path.rglob("*.json")] == [store.folder]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        b'{"format":2}',
        b'{"format":1,"request":{"source":"a","method":"GET","url":"b"},"outcomes":[]}',
        b'{"format":1,"request":{"source":"a","method":"GET","url":"b"},"outcomes":[{"kind":"answer","status":200}]}',
        b'{"format":1,"request":{"source":"a","method":"GET","url":"b"},"outcomes":'
        b'[{"kind":"answer","status":200,"encoding":"text","body":7}]}',
        b'{"format":1,"request":{"source":"a","method":"GET","url":"b"},"outcomes":'
        b'[{"kind":"answer","status":200,"encoding":"base64","body":"?"}]}',
    ],
)
def test_a_damaged_file_is_named(content: bytes, tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    path = store.get_path(REQUEST)
    path.write_bytes(content)
    with pytest.raises(DamagedEntry, match=path.name):
        store.read_entry(REQUEST)
    with pytest.raises(DamagedEntry, match=path.name):
        store.read_entries()


def test_an_entry_written_by_hand_needs_few_fields(tmp_path: Path) -> None:
    request = Request("tiny", "https://tiny.example/works", (("q", "a"),))
    AnswerStore(tmp_path).get_path(request).write_text(
        json.dumps(
            {
                "format": 1,
                "request": {"source": "tiny", "method": "GET", "url": request.url, "params": [["q", "a"]]},
                "outcomes": [{"kind": "answer", "status": 200, "body": {"items": []}}],
            }
        ),
        encoding="utf-8",
    )
    assert replay_outcome(AnswerStore(tmp_path), request) == Response(200, b'{"items":[]}')
