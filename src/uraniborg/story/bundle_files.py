"""Write the files that only the story has: answers, steps, data sheets, masses and comparisons."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, cast

from paper_library.replies import StoredMetadata
from paper_library.sample_shelf_builder import SAMPLE_PAPERS
from universe.plotting import render_svg
from uraniborg.bundle.export import Selection
from uraniborg.bundle.pieces import BundleFile, Chosen, Piece, make_json_file, make_names, make_text_file
from uraniborg.comparison_answers import format_multiple
from uraniborg.kernel.bibliography.short_citations import cite_paper
from uraniborg.story.folder import SHELF
from uraniborg.story.nbody_runs import StoredRun, draw_comparison, read_runs
from uraniborg.story.replies import DoneStep
from uraniborg.story.results import Results, StoryComparisonFacts
from uraniborg.story.universe_steps import format_mass_line
from uraniborg.story.view import format_question

DATA_SHEETS: Final = SAMPLE_PAPERS / "data_sheets"


def select_work(results: Results) -> Selection:
    """Return the search, shelf, runs, universes and N-body runs of the story."""
    built, branches = results["build"], [results["branch"], results["break"]["branch"]]
    jobs = [*results["compare"]["runs"], results["break"]["runs"][1]]
    return Selection(
        searches=[Chosen(results["ask"]["session_id"], SHELF)],
        shelves=[Chosen(SHELF)],
        runs=[
            Chosen(results["read"]["run"]["run_id"] or "", "masses-stopped"),
            Chosen(results["give"]["run"]["run_id"] or "", "masses-resumed"),
        ],
        universes=[
            Chosen(built["universe_id"], SHELF),
            *(Chosen(one["universe_id"], _name_factor(one["factor"])) for one in branches),
        ],
        jobs=[
            Chosen(job["job_id"], _name_factor(factor))
            for job, factor in zip(jobs, [1.0, *(one["factor"] for one in branches)], strict=True)
        ],
    )


def _name_factor(factor: float) -> str:
    return f"h-times-{factor:g}"


class StoryComparison(NamedTuple):
    """A comparison as the bundle has it: the name of its files, its facts, and both runs."""

    name: str
    facts: StoryComparisonFacts
    runs: Sequence[StoredRun]


async def collect_story_piece(results: Results, steps: Sequence[DoneStep]) -> Piece:
    compared = [results["compare"], results["break"]]
    base, *others = await read_runs([*compared[0]["runs"], compared[1]["runs"][1]])
    names = make_names([Chosen(_name_factor(found["factor"])) for found in compared])
    comparisons = [
        StoryComparison(
            name,
            cast("StoryComparisonFacts", {key: found[key] for key in found if key not in ("branch", "picture")}),
            [base, other],
        )
        for name, found, other in zip(names, compared, others, strict=True)
    ]
    sheets = results["shelve"]["sheets"]
    return make_story_piece(results, steps, {name: (DATA_SHEETS / name).read_bytes() for name in sheets}, comparisons)


def make_story_piece(
    results: Results, steps: Sequence[DoneStep], sheets: Mapping[str, bytes], comparisons: Sequence[StoryComparison]
) -> Piece:
    """Return the files of the story that no part has, and the sentences about the masses."""
    return Piece(
        [
            make_text_file("answer.md", "the question, the answers, and the masses", _write_answers(results)),
            make_json_file("steps.json", "every step: its sentence, who ran it and when", steps),
            *(
                BundleFile(f"shelves/{SHELF}/texts/{name}", "the data sheet whose table rows state the masses", content)
                for name, content in sheets.items()
            ),
            make_json_file(
                "masses.json", "the masses that the workflow read, with rows and commands", results["give"]["masses"]
            ),
            *(file for one in comparisons for file in _list_comparison_files(one)),
        ],
        _describe_reading(results),
        [str(step["ended_at"]) for step in steps],
    )


def _list_comparison_files(one: StoryComparison) -> list[BundleFile]:
    drawing = draw_comparison(one.runs, one.facts["answer"])
    return [
        make_json_file(
            f"comparisons/{one.name}.json", "the comparison, its answer, and the angles over time", one.facts
        ),
        make_text_file(
            f"comparisons/{one.name}.svg",
            f"the Laplace angles at 1 and {one.facts['factor']:g} times the mass",
            render_svg(drawing),
        ),
    ]


def _write_answers(results: Results) -> str:
    """Return the page as Markdown."""
    lines = [
        f"# {format_question(results['branch']['factor'])}",
        "",
        *(
            f"- **Planet h {format_multiple(found['factor'])} as heavy**: {found['answer']}"
            for found in (results["compare"], results["break"])
        ),
        "",
        "`methods.md` describes how this was found.",
        "",
        "## What the runs leave out",
        "",
        *(f"- {sentence}" for sentence in results["compare"]["left_out"]),
        "",
        "## The masses",
        "",
        *(f"- {one['name']}: {format_mass_line(one)}" for one in results["build"]["masses"]),
        "",
    ]
    return "\n".join(lines)


def _describe_reading(results: Results) -> list[str]:
    """Return how the masses were read, and how the answers follow from the runs."""
    given = results["give"]
    paper = cast("StoredMetadata", given["paper"])  # the story ends with all masses
    with_row = sum(bool(one["location"]) for one in given["masses"])
    without = [one for one in given["masses"] if not one["location"]]
    return [
        f"Of {len(given['masses'])} masses, {with_row} are from table rows of the data sheet of "
        f"{cite_paper(paper)}, doi:{paper['identifiers'].get('doi', '')}.",
        *(
            f"A person gave the mass of {one['body']}, {one['stated']}; no row on the shelf states it."
            for one in without
        ),
        "The orbits are those of the shipped system; `values.csv` of each universe names the sources of its values.",
        "A resonance holds if its Laplace angle librates during the whole span of the run.",
    ]
