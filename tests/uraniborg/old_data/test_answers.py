"""The data folder of the previous version is answered about as the previous version answered."""

import json
import re
from pathlib import Path
from typing import Any, Final, cast

from tests.fixtures.data import HERE
from tests.uraniborg.old_data.answers import ANSWERS, collect_answers, remove_wording
from tests.uraniborg.old_data.folder import OldData

ADDED: Final[dict[str, tuple[Any, ...]]] = {
    ".checkpoint.payload.intent.typed_query": ("",),
    ".checkpoint.payload.strategy.blocks": ([],),
    ".checkpoint.payload.strategy.suggestions": ([],),
    ".checkpoint.payload.strategy.queries[].blocks": ([],),
    ".checkpoint.payload.suggestions": ([],),
    ".checkpoint.payload.strategy.queries[].rung": (0,),
    ".checkpoint.payload.strategy.queries[].words": ("",),
    ".sources[].partial": (False,),
    ".sources[].stopped": (None,),
    ".sources[].short": (None, "failed"),
}
"""The fields that this version adds, and what it may say in them about data that does not hold them."""
ACTORS: Final = ("actor", "built_by", "createdBy", "renamedBy")
"""The last names of fields that this version adds for actors, who are unknown in data that does not hold them."""
COUNTED: Final = {".sources[].fetched", ".sources[].matched", ".checkpoint.payload.papers_so_far"}
"""The fields that this version adds and fills from what the data holds."""


def find_additions(before: Any, now: Any, path: str = "") -> dict[str, Any]:
    """Return the fields that only `now` has, by path, and remove them from it."""
    added: dict[str, Any] = {}
    if isinstance(before, dict) and isinstance(now, dict):
        old, new = cast("dict[str, Any]", before), cast("dict[str, Any]", now)
        added = {f"{path}.{key}": new.pop(key) for key in new.keys() - old.keys()}
        for key in new.keys() & old.keys():
            added |= find_additions(old[key], new[key], f"{path}.{key}")
    elif isinstance(before, list) and isinstance(now, list):
        for index, (old, new) in enumerate(zip(cast("list[Any]", before), cast("list[Any]", now), strict=False)):
            added |= find_additions(old, new, f"{path}[{index}]")
    return added


def test_every_answer_about_data_of_the_previous_version_is_the_same(tmp_path: Path) -> None:
    old = OldData(HERE / "answers-0.1.0.tar.xz", tmp_path)
    expected = remove_wording(json.loads((tmp_path / ANSWERS).read_text()))
    answers = collect_answers(old)
    assert answers.keys() == expected.keys()
    seen: set[str] = set()
    for name, answer in answers.items():
        reports = json.loads(json.dumps(answer.get("sources", []) if name.startswith("session ") else []))
        for path, value in find_additions(expected[name], answer).items():
            field = re.sub(r"\[\d+\]", "[]", path)
            if field.rpartition(".")[2] in ACTORS:
                assert value is None, (name, path, value)
                continue
            seen.add(field)
            assert name.startswith("session "), (name, path)
            assert field in COUNTED or value in ADDED.get(field, ()), (name, path, value)
        assert answer == expected[name], name
        for report in reports:
            assert report["short"] == ("failed" if report["status"] == "failed" else None), (name, report)
            assert (report["matched"] is None) == (report["status"] == "failed"), (name, report)
            assert report["fetched"] >= (report["matched"] or 0), (name, report)
    assert seen == ADDED.keys() | COUNTED
