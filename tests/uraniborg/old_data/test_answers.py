"""The data folder of the previous version is answered about as the previous version answered."""

import json
from pathlib import Path

from tests.fixtures.data import HERE
from tests.uraniborg.old_data.answers import ANSWERS, collect_answers, remove_wording
from tests.uraniborg.old_data.folder import OldData


def test_every_answer_about_data_of_the_previous_version_is_the_same(tmp_path: Path) -> None:
    old = OldData(HERE / "answers-0.1.0.tar.xz", tmp_path)
    expected = remove_wording(json.loads((tmp_path / ANSWERS).read_text()))
    answers = collect_answers(old)
    assert answers.keys() == expected.keys()
    for name, answer in answers.items():
        assert answer == expected[name], name
