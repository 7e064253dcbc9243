"""Sample values that the workflow tests share."""

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


def make_intent() -> ParsedIntent:
    return ParsedIntent(topic="tidal heating", concepts=["tidal heating"], intent_type=IntentType.METHOD)


def make_strategy(query: str = "tidal AND heating", max_results: int = 100) -> SearchStrategy:
    return SearchStrategy(
        queries=[SearchQuery(keywords=query.split(), boolean_query=query)],
        sources=["alpha", "beta"],
        filters=SearchConstraints(max_results=max_results),
    )


def make_record(title: str, source: str = "alpha", **fields: object) -> RawPaper:
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


def make_paper(title: str, **fields: object) -> Paper:
    source = make_record(title)
    return Paper.model_validate({**source.model_dump(exclude={"snippet", "raw_data"}), **fields})


def make_collection(*titles: str) -> PaperCollection:
    metadata = SearchMetadata(query="tidal heating", search_strategy=make_strategy(), total_found=len(titles))
    return PaperCollection(metadata=metadata, papers=[make_paper(title) for title in titles])


def make_strategy_checkpoint() -> Checkpoint:
    return Checkpoint(
        kind=CheckpointKind.STRATEGY_CONFIRMATION,
        payload=StrategyPayload(intent=make_intent(), strategy=make_strategy()),
    )


def make_review_checkpoint(*titles: str) -> Checkpoint:
    return Checkpoint(kind=CheckpointKind.RESULT_REVIEW, payload=ResultPayload(collection=make_collection(*titles)))
