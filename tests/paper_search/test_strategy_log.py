"""The search log of a strategy says what each source changed."""

from paper_search.export import export
from paper_search.testing import EmulatedBooleanSource, ScriptedDecisions
from tests.paper_search.workflow.runs import APPROVE, make_workflow
from tests.paper_search.workflow.test_strategies import make_literature


async def test_the_log_says_what_a_source_changed_of_a_strategy() -> None:
    workflow = make_workflow(ScriptedDecisions([APPROVE, APPROVE]), [EmulatedBooleanSource(make_literature())])
    result = await workflow.run("(moon*[tiab] AND tidal[tiab]) NOT (animals[mh] NOT humans[mh])")
    log = export(result, "prisma")
    assert "Changed: Excluded only by sources with this field: animals\\[mh\\], humans\\[mh\\]" in log
