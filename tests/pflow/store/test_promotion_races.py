"""Of two processes that save under one name, one succeeds and the other draft stays."""

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pflow.store.workflow_library import WorkflowManager
from pflow.store.workflow_listing import list_workflows
from tests.pflow.store.homes import IR, read_all_files, write_draft, write_raw_draft
from tests.requirements import requirement

ROUNDS = 30
SAVER = """
import sys
from pathlib import Path
from pflow.errors import PflowError
from pflow.store.workflow_library import WorkflowManager
from pflow.service.workflow_texts import move_draft_to_library

home, draft_name, rounds, how = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]
library = WorkflowManager.for_library(home)
for number in range(rounds):
    print("ready", flush=True)
    sys.stdin.readline()
    name = f"final-{number}"
    try:
        if how == "save":
            library.save(name, {"nodes": [{"id": sys.argv[2], "type": "echo"}]}, sys.argv[2])
        else:
            move_draft_to_library(home, draft_name.replace("N", str(number)), name, draft_name)
        print("won", flush=True)
    except PflowError as error:
        print(error.code, flush=True)
"""


def race(home: Path, drafts: tuple[str, str], how: str = "move") -> list[tuple[str, str]]:
    """Return the replies of both processes, round by round. `N` in the name of a draft is the number of the round."""
    savers = [
        subprocess.Popen(
            [sys.executable, "-c", SAVER, str(home), name, str(ROUNDS), how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=home,
        )
        for name in drafts
    ]
    report: list[tuple[str, str]] = []
    try:
        for _ in range(ROUNDS):
            for saver in savers:
                assert saver.stdout is not None
                assert saver.stdout.readline() == "ready\n"
            for saver in savers:
                assert saver.stdin is not None
                saver.stdin.write("go\n")
                saver.stdin.flush()
            one, other = (saver.stdout.readline().strip() for saver in savers if saver.stdout)
            report.append((one, other))
    finally:
        for saver in savers:
            saver.kill()
            saver.communicate(timeout=10)
    return report


@requirement("PF-E5")
def test_of_two_drafts_saved_under_one_name_one_wins_and_the_other_stays_a_draft(tmp_path: Path) -> None:
    for number in range(ROUNDS):
        write_draft(tmp_path, f"one-{number}", {**IR, "purpose": "one"})
        write_draft(tmp_path, f"other-{number}", {**IR, "purpose": "other"})
    for number, report in enumerate(race(tmp_path, ("one-N", "other-N"))):
        assert Counter(report) == {"won": 1, "already_exists": 1}
        winner, loser = ("one", "other") if report[0] == "won" else ("other", "one")
        assert WorkflowManager.for_library(tmp_path).load(f"final-{number}").ir["purpose"] == winner
        drafts = WorkflowManager.for_drafts(tmp_path)
        assert drafts.load(f"{loser}-{number}").ir["purpose"] == loser
        assert not drafts.exists(f"{winner}-{number}")


@pytest.mark.parametrize("put_draft", [write_draft, write_raw_draft])
def test_of_two_that_save_the_same_draft_one_wins_and_the_other_finds_it_gone(
    tmp_path: Path, put_draft: Callable[[Path, str], Path]
) -> None:
    for number in range(ROUNDS):
        put_draft(tmp_path, f"final-{number}")
    for report in race(tmp_path, ("final-N", "final-N")):
        assert Counter(report) == {"won": 1, "workflow_not_found": 1}
    assert set(read_all_files(tmp_path)) == {f"workflows/final-{number}.json" for number in range(ROUNDS)}
    assert all(one.source == "library" for one in list_workflows(tmp_path).workflows)


def test_of_two_managers_that_save_under_one_name_one_wins_and_its_file_is_whole(tmp_path: Path) -> None:
    for number, report in enumerate(race(tmp_path, ("one", "other"), how="save")):
        assert Counter(report) == {"won": 1, "already_exists": 1}
        stored: Any = WorkflowManager.for_library(tmp_path).load(f"final-{number}")
        winner = "one" if report[0] == "won" else "other"
        assert (stored.description, stored.ir["nodes"][0]["id"]) == (winner, winner)
    assert len(read_all_files(tmp_path)) == ROUNDS
