"""Forgeries of the story's own files: comparisons, answers, steps, masses and data sheets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import orjson

from tests.uraniborg.bundle.forged_universes import BASE, MASS, write_log
from tests.uraniborg.bundle.forging import edit_json, replace, tell_edits, tell_replacements, tells
from universe.domain.names_and_numbers import shorten_names
from universe.domain.nbody.analysis import compare_run_analyses
from uraniborg.story.resonance_verdicts import answer_question

COMPARISON: Final = "comparisons/h-times-50.json"


def edit_comparison(folder: Path, change: Callable[[Any], object]) -> None:
    edit_json(folder, COMPARISON, change)


def answer_again(folder: Path, found: Any, measurements: list[str]) -> None:
    """Answer the question of a comparison with the program itself, from these runs, wherever the answer is stated."""
    first, second = (orjson.loads((folder / "measurements" / one / "result.json").read_bytes()) for one in measurements)
    document = orjson.loads((folder / "measurements" / measurements[0] / "universe.json").read_bytes())
    names = {key: document["state"]["stars"][key]["name"] for key in first["bodies"]}
    answer = answer_question(
        first,
        second,
        compare_run_analyses(first, second, ["first", "second"]),
        planet=names[found["planet"]],
        factor=found["factor"],
        names=dict(zip(names, shorten_names(list(names.values())), strict=True)),
    )
    for path in ("answer.md", "steps.json"):
        text = (folder / path).read_text()
        (folder / path).write_text(text.replace(found["answer"], answer.sentence))
    found.update(verdict=answer.verdict, answer=answer.sentence)


tell_edits(
    "story",
    {
        COMPARISON: {
            "another text of a comparison, beside the right answer": lambda found: found.update(
                comparison="All angles librate in both."
            ),
            "an angle over time that no run has": lambda found: found["angles"][1]["angles"][0]["degrees"].__setitem__(
                5, 0.0
            ),
            "a behaviour of an angle in a comparison that no run has": lambda found: found["resonances"][0].update(
                behaviour=["librates", "librates"]
            ),
        },
    },
)
tell_replacements(
    "story",
    {
        "answer.md": {"another answer in answer.md": ("It cannot be said", "Yes, and it can be said")},
        "masses.json": {
            "a mass in masses.json that the workflow did not read": ("9.791375277253587e-07", "9.791375277253587e-06")
        },
        "shelves/trappist-1/texts/agol2021.md": {"a row of the data sheet changed": ("0.326 ± 0.020", "0.126 ± 0.020")},
    },
)
tell_edits(
    "story",
    {
        "steps.json": {
            "a step by another person": lambda steps: [step.update(by="Grace") for step in steps],
            "a step with another sentence": lambda steps: steps[1].update(sentence="You struck no query."),
            "a step that ended before the one it follows": lambda steps: steps[-1].update(
                ended_at="2020-01-01T00:00:00.000000Z"
            ),
        },
    },
    expected="unproven",
)


@tells("an unknown run, so that the answer is not checked", "story", COMPARISON)
def _(folder: Path) -> None:
    def change(found: Any) -> None:
        found["runs"][1]["job_id"] = "job_" + "0" * 32
        found.update(verdict="yes", answer="Yes, for ever.")

    edit_comparison(folder, change)


@tells("a comparison of a run with itself", "story", COMPARISON)
def _(folder: Path) -> None:
    def change(found: Any) -> None:
        found["runs"][1]["job_id"] = found["runs"][0]["job_id"]
        answer_again(folder, found, ["h-times-1", "h-times-1"])

    edit_comparison(folder, change)


@tells("another factor than the mass was multiplied by, with the answer that follows", "story", COMPARISON)
def _(folder: Path) -> None:
    def change(found: Any) -> None:
        found["factor"] = 5.0
        answer_again(folder, found, ["h-times-1", "h-times-50"])

    edit_comparison(folder, change)


@tells("a comparison's threshold changed", "story", COMPARISON)
def _(folder: Path) -> None:
    for path in (COMPARISON, "answer.md", "steps.json"):
        replace(folder, path, "by 1 degree or more", "by 10 degrees or more", every=True)


@tells("the picture of another comparison", "story", "comparisons/h-times-50.svg")
def _(folder: Path) -> None:
    (folder / "comparisons/h-times-50.svg").write_bytes((folder / "comparisons/h-times-2.svg").read_bytes())


@tells("a mass in the log of the universe that the workflow did not read, in all that follows", "story", BASE)
def _(folder: Path) -> None:
    write_log(folder, BASE, lambda text: text.replace(MASS, "3.784335107220405e-7").replace("0.326", "0.126"))


@tells("a radius in the universe that neither its measurements nor its branches have", "story", BASE)
def _(folder: Path) -> None:
    write_log(folder, BASE, lambda text: text.replace('"radius":0.0001609', '"radius":0.0002609'))
