"""Stored entries are read back unchanged."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper_library.domain.entries import Entry
from paper_library.domain.entry_matcher import make_keys
from paper_library.service.build.stored_entries import EntrySpool
from tests.paper_library.service.build.readers.entries import make_entry

TEXT = st.text(max_size=30)
ENTRIES = st.builds(
    Entry,
    title=TEXT,
    authors=st.lists(TEXT, max_size=3),
    year=st.none() | st.integers(1000, 2100),
    source=TEXT,
    identifiers=st.dictionaries(TEXT, TEXT, max_size=2),
    summaries=st.dictionaries(TEXT, st.recursive(TEXT | st.booleans() | st.none(), st.lists), max_size=2),
)


@settings(max_examples=40)
@given(st.lists(ENTRIES, max_size=5))
def test_every_entry_is_read_back_by_its_number(tmp_path_factory: pytest.TempPathFactory, entries: list[Entry]) -> None:
    spool = EntrySpool(tmp_path_factory.mktemp("spool") / "spool")
    put = [(entry, make_keys(entry)) for entry in entries]
    for entry, keys in put:
        assert spool.append_entry(entry) == keys
    spool.flush()
    assert spool.read_entries(reversed(range(len(put)))) == put[::-1]
    spool.close()


def test_a_very_deeply_nested_summary_is_refused_and_other_entries_are_stored(tmp_path: Path) -> None:
    nested: list[object] = []
    for _ in range(500):
        nested = [nested]
    spool = EntrySpool(tmp_path / "spool")
    with pytest.raises(TypeError):
        spool.append_entry(make_entry("a.json:1", summaries={"deep": nested}))
    kept = make_entry("a.json:2", "Deep Fish")
    keys = spool.append_entry(kept)
    spool.flush()
    assert spool.read_entries([0]) == [(kept, keys)]
    spool.close()
