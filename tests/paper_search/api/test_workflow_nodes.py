"""Tests of the search node of workflows."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any, cast

import pytest
from blockbuster import blockbuster_ctx

import paper_search
from paper_search import AppConfig
from paper_search.api import workflow_nodes
from paper_search.domain.source_descriptions import get_source_label
from paper_search.errors import InvalidQuery, UnknownDomain, UnknownSource
from paper_search.models import Paper
from paper_search.sources.transport.recording import InvalidRecording
from pflow.domain.node_interface import parse_interface
from uraniborg.kernel.errors import InvalidInput, Unavailable
from uraniborg.recordings import QUERY, RECORDING

(INTERFACE,) = json.loads(Path(workflow_nodes.__file__).with_suffix(".json").read_text())["nodes"]


@dataclass
class Context:
    folder: Path
    messages: list[str] = field(default_factory=list[str])

    def say(self, text: str) -> None:
        self.messages.append(text)


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return Context(RECORDING.parent)


async def replay_search(context: Context, **params: Any) -> Any:
    return await workflow_nodes.search(cast("Any", {"query": QUERY, "replay": RECORDING.name, **params}), context)


def test_the_interface_is_valid_and_documents_automatic_approval() -> None:
    interface = parse_interface(INTERFACE, source="entry-point")
    module, _, name = interface.run.partition(":")
    assert iscoroutinefunction(getattr(import_module(module), name))
    assert interface.example.keys() <= interface.params.keys()
    assert "the node approves the strategy and the result itself" in interface.description
    assert interface.effect == "pure"


def test_a_paper_states_whether_it_is_retracted() -> None:
    notice = {"status": "retracted", "source": "crossref", "date": "2010", "notice_doi": "10.1000/r"}
    retracted = Paper.model_validate({"id": "p", "title": "Cells", "source": "crossref", "notices": [notice]})
    plain = workflow_nodes._build_paper_fields(retracted)  # pyright: ignore[reportPrivateUsage]
    assert plain["retraction"] == notice
    assert plain.keys() == INTERFACE["outputs"]["papers"]["structure"].keys()


def test_the_node_works_without_the_part_that_runs_workflows() -> None:
    interface = (
        "import sys, paper_search.api.workflow_nodes; print([name for name in sys.modules if name.startswith('pflow')])"
    )
    done = subprocess.run([sys.executable, "-c", interface], capture_output=True, text=True, timeout=50, check=True)
    assert done.stdout.strip() == "[]"


async def test_a_replayed_search_gives_the_papers_of_the_library_as_plain_values(context: Context) -> None:
    found = await replay_search(context)
    expected = await paper_search.search(QUERY, AppConfig(replay_dir=RECORDING))
    assert found["count"] == len(found["papers"]) == len(expected.papers) > 10
    assert [paper["id"] for paper in found["papers"]] == [paper.id for paper in expected.papers]
    assert json.loads(json.dumps(found)) == found
    declared = parse_interface(INTERFACE, source="entry-point").outputs
    assert found.keys() == declared.keys()
    for name in ("papers", "sources"):
        structure = declared[name].structure
        assert structure is not None
        assert all(item.keys() == structure.keys() for item in found[name])
    first, same = found["papers"][0], expected.papers[0]
    assert first["authors"] == [author.name for author in same.authors]
    assert (first["doi"], first["relevance_score"]) == (same.doi, same.relevance_score)


async def test_progress_is_reported_source_by_source(context: Context) -> None:
    found = await replay_search(context)
    labels = [get_source_label(source["name"]) for source in found["sources"]]
    assert context.messages[0] == f"searching {', '.join(labels)}"
    answers = [line for line in context.messages if not line.startswith("searching")]
    assert {line.partition(":")[0] for line in answers} == set(labels)


async def test_max_results_limits_the_papers_of_a_larger_recording(context: Context) -> None:
    everything = await replay_search(context)
    few = await replay_search(context, max_results=3)
    assert few["count"] == 3
    assert few["papers"] == everything["papers"][:3]


async def test_only_the_named_sources_are_searched(context: Context) -> None:
    found = await replay_search(context, sources=["crossref", "arxiv"])
    assert [source["name"] for source in found["sources"]] == ["crossref", "arxiv"]
    assert {name for paper in found["papers"] for name in paper["sources"]} <= {"crossref", "arxiv"}
    assert [source["name"] for source in (await replay_search(context, sources="crossref"))["sources"]] == ["crossref"]


async def test_a_search_does_not_block_the_loop(context: Context) -> None:
    await replay_search(context)  # lazy imports read the disk
    with blockbuster_ctx():
        assert (await replay_search(context))["count"] > 10


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"query": "  "}, InvalidQuery),
        ({"max_results": 0}, InvalidInput),
        ({"domain": "astrology", "replay": None}, UnknownDomain),
        ({"sources": ["delphi"]}, UnknownSource),
        ({"replay": "nowhere"}, InvalidRecording),
    ],
)
async def test_an_invalid_search_is_refused(context: Context, params: dict[str, Any], kind: type[InvalidInput]) -> None:
    with pytest.raises(kind):
        await replay_search(context, **params)


async def test_a_query_that_was_not_recorded_fails_with_a_hint(context: Context) -> None:
    with pytest.raises(Unavailable, match="No source answered") as failed:
        await replay_search(context, query="perovskite solar cells")
    assert "that were recorded" in failed.value.hint
    assert {source["status"] for source in failed.value.ids["sources"]} == {"failed"}
