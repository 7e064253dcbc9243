"""The check of comparisons: the answer in words must follow from the stored results of the two runs."""

from collections.abc import Iterator
from typing import Any

from universe.nbody.analysis import compare_run_analyses
from universe.nbody.body_names import shorten_names
from uraniborg.bundle.checks import Check
from uraniborg.bundle.pieces import Plain
from uraniborg.bundle.reader import Bundle, Unreadable
from uraniborg.bundle.universe_checks import read_document
from uraniborg.comparison_answers import answer_question


def check_comparison(bundle: Bundle, path: str) -> Iterator[Check]:
    """Answer the question of a comparison again from the results of its runs."""
    found = bundle.read_object(path)
    folders = {bundle.read_object(f"{one}/job.json").get("id"): one for one in bundle.find_folders("measurements")}
    runs: list[Plain] = found["runs"]
    missing = [str(run["job_id"]) for run in runs if run["job_id"] not in folders]
    if missing:
        yield Check(path, "not repeated", f"the bundle does not have the run {missing[0][:80]}")
        return
    first, second = (bundle.read_object(f"{folders[run['job_id']]}/result.json") for run in runs)
    names = _read_names(bundle, folders[runs[0]["job_id"]], first)
    answer = answer_question(
        first,
        second,
        compare_run_analyses(first, second, ["first", "second"]),
        planet=names[found["planet"]],
        factor=found["factor"],
        names=dict(zip(names, shorten_names(list(names.values())), strict=True)),
    )
    if (found["verdict"], found["answer"]) == (answer.verdict, answer.sentence):
        yield Check(path, "matched", f"the answer follows from both runs: {answer.sentence}")
    else:
        yield Check(path, "differs", f"the answer is “{str(found['answer'])[:200]}”, repeated “{answer.sentence}”")


def _read_names(bundle: Bundle, folder: str, run: Plain) -> dict[str, str]:
    """Return the names of the bodies of a run by id. Raise Unreadable."""
    _, state = read_document(bundle, f"{folder}/universe.json")
    bodies: Any = state["stars"]
    try:
        return {key: str(bodies[key].get("name") or key) for key in run["bodies"]}
    except KeyError as exc:
        raise Unreadable(f"the universe of {folder} has no body {exc}") from None
