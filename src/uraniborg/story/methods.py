"""The answer of the story as a page: the question, the answers, and a methods paragraph made from what was done."""

from uraniborg.kernel.text import plural
from uraniborg.kernel.version import version
from uraniborg.story.answers import format_span
from uraniborg.story.shelf_steps import cite_shortly
from uraniborg.story.steps import Results
from uraniborg.story.universe_steps import format_mass_line
from uraniborg.story.view import QUESTION


def write_methods(results: Results) -> str:
    """Return the page as Markdown."""
    lines = [
        f"# {QUESTION}",
        "",
        *(
            f"- **{found['factor']:g} times the mass**: {found['answer']}"
            for found in (results["compare"], results["break"])
        ),
        "",
        "## How this was found",
        "",
        " ".join((*_describe_search(results), *_describe_reading(results), *_describe_runs(results))),
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


def _describe_search(results: Results) -> list[str]:
    asked, found, reviewed = results["ask"], results["approve"], results["review"]["papers"]
    kept = sum(paper["status"] == "include" for paper in reviewed)
    queries = found["approved"]
    return [
        f"Uraniborg {version()} searched {', '.join(asked['sources'])} offline, in its shipped recording, with "
        f"{plural(len(queries), 'query', 'queries')} ({'; '.join(f'`{text}`' for text in queries)}).",
        f"Of {plural(len(reviewed), 'paper')}, {kept} {'was' if kept == 1 else 'were'} kept.",
    ]


def _describe_reading(results: Results) -> list[str]:
    given = results["give"]
    with_row = [one for one in given["masses"] if one["location"]]
    return [
        f"The workflow masses read {plural(len(with_row), 'mass', 'masses')} from table rows of the data sheet of "
        f"{cite_shortly(given['paper'])}, doi:{given['paper']['identifiers'].get('doi', '')}.",
        f"A person gave the mass of the star, {given['given']:g} solar masses; no row on the shelf states it.",
        "The orbits are those of the shipped system, whose values name their sources in `universe/values.csv`.",
    ]


def _describe_runs(results: Results) -> list[str]:
    found = results["compare"]
    errors = [*found["errors_degrees"], *results["break"]["errors_degrees"][1:]]
    return [
        f"Each universe was integrated for {format_span(found['days'][0])}, twice; no position is off by more than "
        f"{max(errors):.1g} degrees of its orbit by arithmetic.",
        "A resonance holds if its Laplace angle librates during the whole span.",
    ]
