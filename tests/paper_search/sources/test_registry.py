import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from pydantic import SecretStr

from paper_search.config import AppConfig, SearchSourceConfig
from paper_search.errors import CallLimitError, CreditsExhaustedError, UnknownSource
from paper_search.models import SourceStatus
from paper_search.sources.http_source import HttpSource
from paper_search.sources.in_process_sources import GROUP
from paper_search.sources.interfaces import Request, Response, SearchSource
from paper_search.sources.registry import (
    KNOWN,
    build_policy,
    build_sources,
    build_transport,
    list_default_source_names,
    list_source_names,
    load_known_or_installed_definition,
)
from paper_search.sources.transport.recording import Recording
from paper_search.testing import FakeTransport
from tests.paper_search.sources.loopback_server import HANG, make_reply, open_loopback
from tests.paper_search.sources.tiny_definition import make_page, make_strategy

KEY = "k3y" * 6
KEYLESS = ["crossref", "arxiv", "semantic_scholar", "europepmc", "pubmed", "dblp"]


def make_config(**sources: Mapping[str, object]) -> AppConfig:
    return AppConfig(
        sources={name: SearchSourceConfig.model_validate({"name": name, **given}) for name, given in sources.items()},
        cache_ttl_s=0,
    )


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """Return the list of installed entry points, to which a test adds its own."""
    points: list[EntryPoint] = []

    def entry_points(*, group: str) -> list[EntryPoint]:
        return [point for point in points if point.group == group]

    monkeypatch.setattr("paper_search.sources.in_process_sources.entry_points", entry_points)
    return points


def list_names(sources: list[SearchSource]) -> list[str]:
    return [source.source_name for source in sources]


def test_sources_that_need_no_key_are_on_by_default() -> None:
    assert list_default_source_names(make_config()) == KEYLESS
    assert list_names(build_sources(make_config(), transport=FakeTransport({}))) == KEYLESS


def test_a_key_enables_the_source_that_needs_it() -> None:
    given = make_config(openalex={"api_key": SecretStr("k" * 20)}, serpapi_scholar={"api_key": SecretStr("k" * 20)})
    assert list_default_source_names(given) == ["openalex", *KEYLESS, "serpapi_scholar"]


def test_a_source_that_is_switched_off_is_used_only_when_it_is_named() -> None:
    given = make_config(dblp={"enabled": False})
    assert "dblp" not in list_default_source_names(given)
    assert list_names(build_sources(given, transport=FakeTransport({}), only=["dblp"])) == ["dblp"]


def test_named_sources_are_listed_once_in_the_given_order() -> None:
    given = build_sources(make_config(), transport=FakeTransport({}), only=["dblp", "arxiv", "dblp"])
    assert list_names(given) == ["dblp", "arxiv"]
    assert build_sources(make_config(), transport=FakeTransport({}), only=[]) == []


@pytest.mark.parametrize(
    ("given", "only"),
    [(make_config(), ["arxiv", "scopus"]), (make_config(scopus={}), None), (make_config(scopus={}), ["arxiv"])],
)
def test_an_unknown_source_is_refused_with_the_known_ones(
    given: AppConfig, only: list[str] | None, installed: list[EntryPoint]
) -> None:
    installed.append(EntryPoint("shelf", "nowhere:nothing", GROUP))
    with pytest.raises(UnknownSource, match="scopus") as caught:
        build_sources(given, transport=FakeTransport({}), only=only)
    for name in (*KNOWN, "shelf"):
        assert name in caught.value.hint


async def test_a_named_source_without_its_key_is_skipped_with_a_hint() -> None:
    for name, variable in (("openalex", "OPENALEX_API_KEY"), ("serpapi_scholar", "SERPAPI_API_KEY")):
        transport = build_transport(make_config())
        (source,) = build_sources(make_config(), transport=transport, only=[name])
        assert isinstance(source, HttpSource)
        report = (await source.search_with_report(make_strategy("graphene"))).report
        assert (report.status, report.calls) == (SourceStatus.SKIPPED, 0)
        assert variable in (report.reason or "")
        await transport.aclose()


def test_installed_sources_follow_the_sources_of_the_package(installed: list[EntryPoint]) -> None:
    installed += [EntryPoint(name, "nowhere:nothing", GROUP) for name in ("shelf", "arxiv")]
    installed.append(EntryPoint("other", "nowhere:nothing", "another.group"))
    assert list_source_names() == [*KNOWN, "shelf"]
    assert list_default_source_names(make_config()) == [*KEYLESS, "shelf"]
    assert list_default_source_names(make_config(shelf={"enabled": False})) == KEYLESS


async def test_a_broken_entry_point_is_a_failed_source(installed: list[EntryPoint]) -> None:
    installed.append(EntryPoint("shelf", "no_such_module_anywhere:source", GROUP))
    transport = build_transport(make_config())
    (source,) = build_sources(make_config(), transport=transport, only=["shelf"])
    assert isinstance(source, HttpSource)
    report = (await source.search_with_report(make_strategy("graphene"))).report
    assert report.status is SourceStatus.FAILED
    assert "ModuleNotFoundError" in (report.reason or "")


async def test_a_recorded_source_can_be_replayed_where_it_is_not_installed(tmp_path: Path) -> None:
    recording = Recording.create(tmp_path, query="x")
    transport = recording.make_recording_transport(FakeTransport({"": make_page()}))
    await transport.send(Request("shelf", "entry-point:shelf"))
    await transport.aclose()
    replay = Recording.open(tmp_path).make_replay_transport()
    assert list_names(build_sources(make_config(), transport=replay, only=["shelf"])) == ["shelf"]
    with pytest.raises(UnknownSource):
        build_sources(make_config(), transport=replay, only=["zettel"])


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("openalex", ["api_key=" + KEY, "mailto=me%40example.org"]),
        ("crossref", ["mailto=me%40example.org"]),
        ("semantic_scholar", [f"x-api-key: {KEY}"]),
        ("pubmed", ["api_key=" + KEY, "email=me%40example.org"]),
        ("serpapi_scholar", ["api_key=" + KEY]),
        ("dblp", ["user-agent: uraniborg/", "mailto:me@example.org"]),
    ],
)
async def test_each_source_gets_its_key_and_the_contact_address(name: str, sent: list[str]) -> None:
    given = make_config(**{name: {"api_key": SecretStr(KEY), "rate_limit": 1000.0}})
    transport = build_transport(given.model_copy(update={"contact_email": "me@example.org"}))
    async with open_loopback(make_reply()) as site:
        await transport.send(Request(name, site.url))
        await transport.aclose()
    for part in sent:
        assert part.lower() in site.requests[0].lower()


async def test_the_settings_of_a_source_reach_its_transport() -> None:
    given = make_config(dblp={"max_calls": 1, "rate_limit": 1000.0}).model_copy(update={"timeout_s": 0.1})
    transport = build_transport(given)
    async with open_loopback(HANG) as site:
        with pytest.raises(CallLimitError):
            await transport.send(Request("dblp", site.url))
        await transport.aclose()
    assert len(site.requests) == 1


async def test_answers_are_cached_in_the_configured_folder(tmp_path: Path) -> None:
    given = make_config(dblp={"rate_limit": 1000.0}).model_copy(update={"cache_ttl_s": 60.0, "cache_dir": tmp_path})
    async with open_loopback(make_reply(200, b"kept")) as site:
        for _ in range(2):
            transport = build_transport(given)
            assert (await transport.send(Request("dblp", site.url))).body == b"kept"
            await transport.aclose()
    assert len(site.requests) == len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("body", [b"", b"<html><body>Sorry</body></html>", b'{"half', b"\xff\xfe", b"[" * 100_000])
@pytest.mark.parametrize("name", list(KNOWN))
async def test_no_source_raises_for_an_answer_it_cannot_read(name: str, body: bytes) -> None:
    (source,) = build_sources(make_config(), transport=FakeTransport({"": Response(200, body)}), only=[name])
    assert isinstance(source, HttpSource)
    report = (await source.search_with_report(make_strategy("graphene NOT oxide", year_from=2010))).report
    assert report.status is SourceStatus.FAILED
    assert report.reason


@pytest.mark.parametrize("name", list(KNOWN))
def test_every_source_of_the_package_has_a_definition_with_its_name(name: str) -> None:
    assert load_known_or_installed_definition(name).name == name


def test_the_rate_of_crossref_is_higher_with_a_contact_address() -> None:
    assert build_policy(KNOWN["crossref"], make_config()).rate_per_s == 1.0
    assert (
        build_policy(
            KNOWN["crossref"], make_config().model_copy(update={"contact_email": "you@example.org"})
        ).rate_per_s
        == 3.0
    )


def test_the_rates_are_those_that_the_sources_document() -> None:
    assert {name: round(source.rate_per_s, 3) for name, source in KNOWN.items()} == {
        "openalex": 5.0,
        "crossref": 1.0,
        "arxiv": 0.333,
        "semantic_scholar": 1.0,
        "europepmc": 5.0,
        "pubmed": 3.0,
        "dblp": 1.0,
        "serpapi_scholar": 1.0,
    }


@pytest.mark.parametrize(
    ("given", "rate"),
    [({}, 3.0), ({"api_key": SecretStr(KEY)}, 10.0), ({"api_key": SecretStr(KEY), "rate_limit": 0.5}, 0.5)],
)
def test_a_key_raises_the_rate_and_the_settings_override_it(given: Mapping[str, object], rate: float) -> None:
    assert build_policy(KNOWN["pubmed"], make_config(pubmed=given)).rate_per_s == rate
    assert build_policy(KNOWN["pubmed"], make_config()).rate_per_s == 3.0


def test_a_refusal_is_read_by_the_definition_of_its_source() -> None:
    body = b'{"error":"Rate limit exceeded","message":"Insufficient budget. Resets at midnight UTC."}'
    policy = build_policy(KNOWN["openalex"], make_config())
    assert isinstance(policy.read_failure(Response(429, body)), CreditsExhaustedError)


def test_a_replay_is_built_without_an_http_client() -> None:
    program = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from paper_search.config import AppConfig
from paper_search.sources.transport.recording import Recording
from paper_search.sources.registry import KNOWN, build_sources

replay = Recording(Path(), "graphene", {}, datetime.now(UTC)).make_replay_transport()
assert len(build_sources(AppConfig(), transport=replay, only=list(KNOWN))) == len(KNOWN)
sys.exit("httpx" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stderr
