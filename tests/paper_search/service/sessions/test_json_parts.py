"""Large models as JSON, part by part."""

import json

import pytest

from paper_search.store.session_state import PendingCheckpoint
from paper_search.workflow.skill_interfaces import MergeOutcome
from paper_search.workflow.step_journal import dump_in_parts
from tests.paper_search.workflow.samples import make_collection, make_record, make_review_checkpoint


@pytest.mark.parametrize("count", [0, 1, 500])
def test_a_checkpoint_in_parts_is_the_same_checkpoint(count: int) -> None:
    checkpoint = make_review_checkpoint(*(f"Moon “{number}”" for number in range(count)))
    pending = PendingCheckpoint(checkpoint=checkpoint, sources=["alpha"])
    text = dump_in_parts(pending)
    assert json.loads(text) == json.loads(pending.model_dump_json())
    assert PendingCheckpoint.model_validate_json(text) == pending


def test_a_model_of_one_long_list_or_of_several_is_complete() -> None:
    papers = [make_record(f"Moon {number}") for number in range(300)]
    outcome = MergeOutcome(papers=papers, merged={"same DOI": 2}, members=[[number] for number in range(300)])
    assert json.loads(dump_in_parts(outcome)) == json.loads(outcome.model_dump_json())
    collection = make_collection(*(paper.title for paper in papers))
    collection.removed_papers = collection.papers
    assert json.loads(dump_in_parts(collection)) == json.loads(collection.model_dump_json())
