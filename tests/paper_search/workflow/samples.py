"""Small values the workflow tests share."""

from paper_search.models import (
    Author,
    IntentType,
    Paper,
    PaperCollection,
    ParsedIntent,
    RawPaper,
    SearchConstraints,
    SearchMetadata,
    SearchQuery,
    SearchStrategy,
    SourceRecord,
)
from paper_search.workflow import (
    Checkpoint,
    CheckpointKind,
    ResultPayload,
    StrategyPayload,
)


def intent() -> ParsedIntent:
    return ParsedIntent(topic="tidal heating", concepts=["tidal heating"], intent_type=IntentType.METHOD)


def strategy(query: str = "tidal AND heating", max_results: int = 100) -> SearchStrategy:
    return SearchStrategy(
        queries=[SearchQuery(keywords=query.split(), boolean_query=query)],
        sources=["alpha", "beta"],
        filters=SearchConstraints(max_results=max_results),
    )


def raw(title: str, source: str = "alpha", **fields: object) -> RawPaper:
    record = SourceRecord(source=source, record_id=title.casefold())
    values: dict[str, object] = {
        "authors": [Author(name="Tycho Brahe")],
        "year": 2020,
        "records": [record],
        **fields,
        "title": title,
        "source": source,
    }
    return RawPaper.model_validate(values)


def paper(title: str, **fields: object) -> Paper:
    source = raw(title)
    return Paper.model_validate({**source.model_dump(exclude={"snippet", "raw_data"}), **fields})


def collection(*titles: str) -> PaperCollection:
    metadata = SearchMetadata(query="tidal heating", search_strategy=strategy(), total_found=len(titles))
    return PaperCollection(metadata=metadata, papers=[paper(title) for title in titles])


def strategy_checkpoint() -> Checkpoint:
    return Checkpoint(
        kind=CheckpointKind.STRATEGY_CONFIRMATION, payload=StrategyPayload(intent=intent(), strategy=strategy())
    )


def review_checkpoint(*titles: str) -> Checkpoint:
    return Checkpoint(kind=CheckpointKind.RESULT_REVIEW, payload=ResultPayload(collection=collection(*titles)))
