"""Puts a workflow together: the skills, sources and transport that a configuration asks for."""

from collections.abc import Sequence
from dataclasses import dataclass

from paper_search.config import AppConfig
from paper_search.domains import get_domain
from paper_search.limits import checked_max_results
from paper_search.llm.base import LLMProvider
from paper_search.llm.model_transport import ModelTransport, TransportedModel
from paper_search.llm.provider import create_provider
from paper_search.skills.deduplicator import Deduplicator
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from paper_search.skills.relevance_scorer import RelevanceScorer
from paper_search.skills.result_organizer import ResultOrganizer
from paper_search.skills.searcher import Searcher
from paper_search.sources.interfaces import Transport
from paper_search.sources.recording import RecordedOptions, Recording, RecordingTransport
from paper_search.sources.registry import build_sources, build_transport, list_default_names
from paper_search.workflow.checkpoints import CheckpointHandler
from paper_search.workflow.engine import SearchWorkflow
from paper_search.workflow.journal import Journal
from paper_search.workflow.ports import ProgressReporter
from uraniborg.kernel.clock import Clock, SystemClock


@dataclass(frozen=True, slots=True)
class _Ground:
    """Where answers come from, what time it is there, which sources are asked, and which model, if any."""

    transport: Transport
    clock: Clock
    sources: list[str]
    model: LLMProvider | None

    async def release(self, finished: bool) -> None:
        """Closes the transport; a recording of a search that did not come to its end is not marked as complete."""
        if isinstance(self.transport, RecordingTransport) and not finished:
            self.transport.abandon()
        await self.transport.aclose()


def build_workflow(
    config: AppConfig,
    *,
    checkpoint_handler: CheckpointHandler | None = None,
    max_iterations: int | None = None,
    enable_strategy_checkpoint: bool = True,
    progress_reporter: ProgressReporter | None = None,
    journal: Journal | None = None,
    clock: Clock | None = None,
    transport: Transport | None = None,
    only: Sequence[str] | None = None,
    query: str = "",
) -> SearchWorkflow:
    """A workflow for `config`. `only` names the sources to use; `query` is written into a recording.

    Reads the disk when a recording is replayed or begun: in a coroutine, call it through `asyncio.to_thread`.
    Raises UnknownDomain, UnknownSource, InvalidInput or InvalidRecording when the config asks for what cannot be.
    """
    get_domain(config.domain)
    max_results, notes = checked_max_results(config.default_max_results)
    recording = Recording.open(config.replay_dir) if config.replay_dir else None
    if recording:
        config, as_recorded = _as_recorded(config, recording.options)
        max_results, notes = config.default_max_results, as_recorded
    ground = _ground(config, recording, clock or SystemClock(), transport, only)
    if config.record_dir:
        ground = _recorded(ground, config, query)
    return SearchWorkflow(
        IntentParser(ground.model, config.domain, clock=ground.clock),
        QueryBuilder(ground.model, config.domain, available_sources=ground.sources, clock=ground.clock),
        Searcher(build_sources(config, transport=ground.transport, only=ground.sources)),
        Deduplicator(),
        RelevanceScorer(
            ground.model,
            batch_size=config.relevance_batch_size,
            max_concurrency=config.relevance_max_concurrency,
            clock=ground.clock,
        ),
        ResultOrganizer(config.min_relevance, clock=ground.clock),
        checkpoint_handler=checkpoint_handler,
        max_iterations=max_iterations or config.max_rounds,
        enable_strategy_checkpoint=enable_strategy_checkpoint,
        progress_reporter=progress_reporter,
        max_results=max_results,
        domain=config.domain,
        journal=journal,
        clock=ground.clock,
        notes=notes,
        release=ground.release,
    )


def _as_recorded(config: AppConfig, options: RecordedOptions) -> tuple[AppConfig, list[str]]:
    """The config with what decided the recorded result put over it, and a note for each thing asked otherwise."""
    recorded = {
        "default_max_results": options.max_results,
        "domain": options.domain,
        "min_relevance": options.min_relevance,
        "source_deadline_s": options.source_deadline_s,
    }
    notes = [
        f"This is a replay, so {name.removeprefix('default_')} is {value} as recorded, not {getattr(config, name)}."
        for name, value in recorded.items()
        if name in config.model_fields_set and getattr(config, name) != value
    ]
    return config.model_copy(update=recorded), notes


def _ground(
    config: AppConfig,
    recording: Recording | None,
    clock: Clock,
    transport: Transport | None,
    only: Sequence[str] | None,
) -> _Ground:
    if recording:
        replay = recording.replay()
        model = TransportedModel(replay) if recording.options.model else None
        return _Ground(replay, recording.clock, list(only or recording.options.sources), model)
    sources = list(only) if only else list_default_names(config)
    network = transport or build_transport(config, clock=clock)
    return _Ground(network, clock, sources, create_provider(config.llm))


def _recorded(ground: _Ground, config: AppConfig, query: str) -> _Ground:
    assert config.record_dir is not None
    options = RecordedOptions(
        sources=ground.sources,
        max_results=config.default_max_results,
        domain=config.domain,
        min_relevance=config.min_relevance,
        source_deadline_s=config.source_deadline_s,
        model=config.llm.model if ground.model else "",
    )
    recording = Recording.create(config.record_dir, query=query, options=options, clock=ground.clock)
    inner = ModelTransport(ground.model, ground.transport) if ground.model else ground.transport
    recorder = recording.record(inner)
    return _Ground(recorder, recording.clock, ground.sources, TransportedModel(recorder) if ground.model else None)
