"""Assemble workflows: skills, sources, transport and model from a configuration; sessions share one network client."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from paper_search.config import AppConfig
from paper_search.domain.field_profiles import get_domain
from paper_search.recordings import OFFLINE_NOTICE, OFFLINE_TOPICS
from paper_search.service.llm.provider import LLMProvider, ModelTransport, TransportedModel, create_provider
from paper_search.skills.deduplicator import Deduplicator
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from paper_search.skills.relevance_scorer import RelevanceScorer
from paper_search.skills.result_organizer import ResultOrganizer
from paper_search.skills.searcher import Searcher
from paper_search.sources.interfaces import SearchSource, Transport
from paper_search.sources.offline_source import build_offline_sources
from paper_search.sources.registry import build_sources, build_transport, list_default_source_names
from paper_search.sources.transport.recording import RecordedOptions, Recording, RecordingTransport
from paper_search.workflow.input_checks import check_max_results
from paper_search.workflow.skill_interfaces import Skills
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class _Connections:
    """The transport, clock, sources and model of a workflow."""

    transport: Transport
    clock: Clock
    sources: list[str]
    model: LLMProvider | None

    async def release(self, is_finished: bool) -> None:
        """Close the transport; mark a recording as complete only if the search has finished."""
        if isinstance(self.transport, RecordingTransport) and not is_finished:
            self.transport.mark_incomplete()
        await self.transport.aclose()


@dataclass(frozen=True, slots=True)
class WorkflowComponents:
    """The skills and options of a workflow. `release` closes the connections of a search."""

    skills: Skills
    max_results: int
    min_relevance: float | None
    max_rounds: int
    domain: str
    clock: Clock
    notes: list[str]
    release: Callable[[bool], Awaitable[None]]


def build_components_and_start_recording(
    config: AppConfig,
    *,
    clock: Clock | None = None,
    transport: Transport | None = None,
    only: Sequence[str] | None = None,
    query: str = "",
) -> WorkflowComponents:
    """Return the components for `config`. `only` names the sources to use; `query` is written into a recording.

    Reads the disk if a recording is replayed or started: in a coroutine, call it in a thread. Raise UnknownDomain,
    UnknownSource, InvalidInput or InvalidRecording if the config is invalid.
    """
    get_domain(config.domain)
    if config.offline:
        return _build_offline_components(config, clock or SystemClock(), only)
    max_results, notes = check_max_results(config.default_max_results)
    recording = Recording.open(config.replay_dir) if config.replay_dir else None
    if recording:
        config, recorded_notes = _apply_recorded_options(config, recording.options)
        max_results, notes = config.default_max_results, recorded_notes
    connections = _choose_connections(config, recording, clock or SystemClock(), transport, only)
    if config.record_dir:
        connections = _start_recording(connections, config, query)
    sources = build_sources(config, transport=connections.transport, only=connections.sources)
    return WorkflowComponents(
        skills=_build_skills(config, sources, connections.model, connections.clock),
        max_results=max_results,
        min_relevance=config.min_relevance,
        max_rounds=config.max_rounds,
        domain=config.domain,
        clock=connections.clock,
        notes=notes,
        release=connections.release,
    )


def _build_offline_components(config: AppConfig, clock: Clock, only: Sequence[str] | None) -> WorkflowComponents:
    """Return the components of a trial: its sources filter the shipped recording, and no model is used."""
    if config.replay_dir or config.record_dir:
        raise InvalidInput(
            "A search cannot be offline and also record or replay.",
            hint="Use only one of offline, record and replay.",
        )
    max_results, notes = check_max_results(config.default_max_results)
    if config.llm.model:
        notes = [*notes, "The language model is not used offline; rules replace it."]
    return WorkflowComponents(
        skills=_build_skills(config, build_offline_sources(config, only), None, clock),
        max_results=max_results,
        min_relevance=config.min_relevance,
        max_rounds=config.max_rounds,
        domain=config.domain,
        clock=clock,
        notes=[OFFLINE_NOTICE, OFFLINE_TOPICS, *notes],
        release=_release_nothing,
    )


async def _release_nothing(is_finished: bool) -> None:
    pass


def _build_skills(
    config: AppConfig, sources: Sequence[SearchSource], model: LLMProvider | None, clock: Clock
) -> Skills:
    names = [source.source_name for source in sources]
    return Skills(
        IntentParser(model, config.domain, clock=clock),
        QueryBuilder(model, config.domain, available_sources=names, clock=clock),
        Searcher(sources),
        Deduplicator(),
        RelevanceScorer(
            model,
            batch_size=config.relevance_batch_size,
            max_concurrency=config.relevance_max_concurrency,
            clock=clock,
        ),
        ResultOrganizer(clock=clock),
    )


def _apply_recorded_options(config: AppConfig, options: RecordedOptions) -> tuple[AppConfig, list[str]]:
    """Return the config with the options of the recording, and a note for each option that it overrides."""
    recorded = {
        "default_max_results": options.max_results,
        "domain": options.domain,
        "min_relevance": options.min_relevance,
        "source_deadline_s": options.source_deadline_s,
    }
    notes = [
        f"This is a replay, so {name.removeprefix('default_')} is {value} as recorded, not {getattr(config, name)}."
        for name, value in recorded.items()
        if name in config.model_fields_set and getattr(config, name) not in (None, value)
    ]
    return config.model_copy(update=recorded), notes


def _choose_connections(
    config: AppConfig,
    recording: Recording | None,
    clock: Clock,
    transport: Transport | None,
    only: Sequence[str] | None,
) -> _Connections:
    if recording:
        replay = recording.make_replay_transport()
        model = TransportedModel(replay) if recording.options.model else None
        return _Connections(replay, recording.clock, list(only or recording.options.sources), model)
    sources = list(only) if only else list_default_source_names(config)
    network = transport or build_transport(config, clock=clock)
    return _Connections(network, clock, sources, create_provider(config.llm))


def _start_recording(connections: _Connections, config: AppConfig, query: str) -> _Connections:
    assert config.record_dir is not None
    options = RecordedOptions(
        sources=connections.sources,
        max_results=config.default_max_results,
        domain=config.domain,
        min_relevance=config.min_relevance,
        source_deadline_s=config.source_deadline_s,
        model=config.llm.model if connections.model else "",
    )
    recording = Recording.create(config.record_dir, query=query, options=options, clock=connections.clock)
    inner = ModelTransport(connections.model, connections.transport) if connections.model else connections.transport
    recorder = recording.make_recording_transport(inner)
    return _Connections(
        recorder, recording.clock, connections.sources, TransportedModel(recorder) if connections.model else None
    )
