"""The journals of a search: each step runs once."""

import pytest

from paper_search.models import SearchConstraints
from paper_search.workflow.step_journal import MemoryJournal, NoJournal


class Counter:
    def __init__(self) -> None:
        self.made = 0

    async def make(self) -> SearchConstraints:
        self.made += 1
        return SearchConstraints(max_results=self.made)


async def test_a_stored_step_is_not_repeated() -> None:
    journal, counter = MemoryJournal(), Counter()
    first = await journal.get_or_run_and_store("step", SearchConstraints, counter.make)
    second = await journal.get_or_run_and_store("step", SearchConstraints, counter.make)
    assert first == second
    assert counter.made == 1


async def test_steps_are_stored_separately() -> None:
    journal, counter = MemoryJournal(), Counter()
    first = await journal.get_or_run_and_store("a", SearchConstraints, counter.make)
    second = await journal.get_or_run_and_store("b", SearchConstraints, counter.make)
    assert first != second


async def test_changing_a_returned_value_does_not_change_the_journal() -> None:
    journal, counter = MemoryJournal(), Counter()
    first = await journal.get_or_run_and_store("step", SearchConstraints, counter.make)
    first.max_results = 99
    assert (await journal.get_or_run_and_store("step", SearchConstraints, counter.make)).max_results == 1


async def test_a_failed_step_is_repeated() -> None:
    journal, counter = MemoryJournal(), Counter()

    async def broken() -> SearchConstraints:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await journal.get_or_run_and_store("step", SearchConstraints, broken)
    assert (await journal.get_or_run_and_store("step", SearchConstraints, counter.make)).max_results == 1


async def test_without_a_journal_every_step_runs_again() -> None:
    journal, counter = NoJournal(), Counter()
    await journal.get_or_run_and_store("step", SearchConstraints, counter.make)
    await journal.get_or_run_and_store("step", SearchConstraints, counter.make)
    assert counter.made == 2
