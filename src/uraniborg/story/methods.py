"""Write the answers of the story as a page, and the sentences of its methods that no part can write."""

from uraniborg.comparison_answers import format_multiple
from uraniborg.kernel.bibliography.short_citations import cite_paper
from uraniborg.story.question import format_question
from uraniborg.story.steps import Results
from uraniborg.story.universe_steps import format_mass_line


def write_answers(results: Results) -> str:
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


def describe_reading(results: Results) -> list[str]:
    """Return how the masses were read, and how the answers follow from the runs."""
    given = results["give"]
    with_row = sum(bool(one["location"]) for one in given["masses"])
    without = [one for one in given["masses"] if not one["location"]]
    return [
        f"Of {len(given['masses'])} masses, {with_row} are from table rows of the data sheet of "
        f"{cite_paper(given['paper'])}, doi:{given['paper']['identifiers'].get('doi', '')}.",
        *(
            f"A person gave the mass of {one['body']}, {one['stated']}; no row on the shelf states it."
            for one in without
        ),
        "The orbits are those of the shipped system; `values.csv` of each universe names the sources of its values.",
        "A resonance holds if its Laplace angle librates during the whole span of the run.",
    ]
