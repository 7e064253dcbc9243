"""Steps that build a universe with sourced masses, branch it with another mass, and read earlier versions."""

import asyncio
from typing import Final

from universe.claims import SUPPORTED, PaperTextReader
from universe.domain.field_types import Source
from universe.domain.provenance.value_status import compute_value_status, describe_who_set
from universe.domain.state import Plain
from universe.service.initial_states import load_or_generate_state
from universe.service.papers import make_paper_text_reader
from universe.service.universes import UniverseService
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import Conflict, NotFound
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.part_services import open_universes
from uraniborg.story.errors import START_OVER
from uraniborg.story.resonance_verdicts import format_multiple
from uraniborg.story.results import (
    BodyMass,
    BranchResult,
    BuildResult,
    MassSource,
    Results,
    ScrubResult,
    StepInputs,
    VersionMass,
)
from uraniborg.story.shelf_steps import SYSTEM, name_body, to_earth_masses
from uraniborg.story.steps import FIRST_FACTOR, AskedValue, DeclaredStep, Description, StepContext

UNIVERSE: Final = "story-trappist-1"
PLANET: Final = "trappist-1-h"
"""The planet of the question."""
LEAST_FACTOR, MOST_FACTOR = 0.01, 1000.0


class NoMasses(Conflict):
    code = "no_masses"


async def read_universe(service: UniverseService, universe_id: str, version: int | None = None) -> tuple[int, Plain]:
    view = await service.view(universe_id, version)
    return view.version, view.replica.mirror.to_plain()


async def _delete_if_present(service: UniverseService, universe_id: str | None, actor: Actor) -> None:
    if universe_id is not None:
        try:
            await service.delete(universe_id, actor=actor)
        except NotFound:
            return


async def run_build(context: StepContext, _inputs: StepInputs) -> BuildResult:
    """Create the system with the shipped orbits, and set every mass by a command with its source."""
    masses = context.results["give"]["masses"]
    if not masses:
        raise NoMasses("The workflow gave no masses.", hint=START_OVER)
    initial = await asyncio.to_thread(load_or_generate_state, SYSTEM)
    async with open_universes() as service:
        await _delete_if_present(service, UNIVERSE, context.actor)
        await service.create("TRAPPIST-1", initial, universe_id=UNIVERSE, actor=context.actor)
        for one in masses:
            await service.send(UNIVERSE, one["command"], actor=context.actor)
        version, state = await read_universe(service, UNIVERSE)
    return {
        "universe_id": UNIVERSE,
        "version": version,
        "commands": len(masses),
        "bodies": len(state["stars"]),
        "masses": await asyncio.to_thread(describe_masses, state, make_paper_text_reader(context.folder.shelf)),
    }


def describe_masses(state: Plain, text_of: PaperTextReader) -> list[BodyMass]:
    """Return the mass of every body with the status of its origin, checked against the texts of the shelf."""
    return [describe_mass(state, body, text_of) for body in state["stars"]]


def describe_mass(state: Plain, body: str, text_of: PaperTextReader) -> BodyMass:
    """Return the mass of a body, its status, the row that states it, and who set it."""
    found = compute_value_status(state["stars"][body], "mass", text_of)
    support = next((one for one in found.supports if one.claim is not None), None)
    claim = support.claim if support else None
    locations = (support.source.get("locations") if support else None) or {}
    return {
        "body": body,
        "name": state["stars"][body]["name"],
        "mass": found.value,
        "earth_masses": to_earth_masses(found.value),
        "status": found.status,
        "reason": claim.reason if claim else "",
        "as_written": claim.as_written if claim else "",
        "is_on_shelf": claim.checked if claim else False,
        "location": locations.get("mass"),
        "source": _describe_source(support.source) if support else None,
        "set_by": describe_who_set(found.record) if found.record else "",
    }


def _describe_source(source: Source) -> MassSource:
    return {
        "id": source.get("id"),
        "title": source.get("title"),
        "doi": source.get("doi"),
        "year": source.get("year"),
    }


def preview_build(results: Results) -> str:
    masses = results["give"]["masses"]
    return (
        f"The orbits come from the shipped system {name_body(SYSTEM)}; "
        f"{plural(len(masses), 'command sets', 'commands set')} a mass each, with its source."
    )


def describe_build(results: Results) -> Description:
    built = results["build"]
    counts: dict[str, int] = {}
    for one in built["masses"]:
        counts[one["status"]] = counts.get(one["status"], 0) + 1
    statuses = ", ".join(f"{number} {status}" for status, number in counts.items())
    return Description(
        f"{plural(built['commands'], 'command')} brought the universe to version {built['version']}; its "
        f"{plural(built['bodies'], 'mass', 'masses')}: {statuses}.",
        [(one["name"], format_mass_line(one)) for one in built["masses"]],
        links=[("the universe", f"/universes/{built['universe_id']}")],
    )


def format_mass_line(mass: BodyMass) -> str:
    """Return a mass with its status and its reason."""
    amount = f"{mass['earth_masses']:.4g} Earth masses"
    if mass["body"] == SYSTEM:
        amount = f"{mass['mass']:.4g} solar masses"
    location = mass["location"]
    if mass["status"] == SUPPORTED and location:
        place = "found on the shelf" if mass["is_on_shelf"] else "not found on the shelf"
        row = " | ".join(map(str, location.get("row") or ()))
        return f"{amount}, {SUPPORTED}: {mass['as_written']} in the row “{row}”, {place}"
    origin = f"{mass['status']}: {mass['reason']}" if mass["reason"] else mass["set_by"] or mass["status"]
    return f"{amount}, {origin}"


async def branch_with_other_mass(context: StepContext, factor: float, replaced: str | None) -> BranchResult:
    """Branch the universe, multiply the mass of the planet, delete the replaced branch, and return the new one."""
    built = context.results["build"]
    async with open_universes() as service:
        _, state = await read_universe(service, built["universe_id"], built["version"])
        before = state["stars"][PLANET]["mass"]
        record = await service.branch(
            built["universe_id"],
            version=built["version"],
            name=_name_branch(factor),
            actor=context.actor,
        )
        command: JsonObject = {"type": "updateStar", "id": PLANET, "payload": {"mass": before * factor}}
        result = await service.send(record.id, command, actor=context.actor)
        _, state = await read_universe(service, record.id)
        version_after = (await service.read_record(built["universe_id"])).version
        # Last: pages that draw the replaced universe know by now that this step runs.
        await _delete_if_present(service, replaced, context.actor)
    text_of = make_paper_text_reader(context.folder.shelf)
    (mass,) = [one for one in await asyncio.to_thread(describe_masses, state, text_of) if one["body"] == PLANET]
    return {
        "universe_id": record.id,
        "version": result.version,
        "from": {"universe_id": built["universe_id"], "version": built["version"], "version_after": version_after},
        "factor": factor,
        "before": to_earth_masses(before),
        "after": mass,
        "command": command,
    }


async def run_branch(context: StepContext, inputs: StepInputs) -> BranchResult:
    """Set another mass of the planet on a branch."""
    earlier = context.results["branch"]["universe_id"] if "branch" in context.results else None
    return await branch_with_other_mass(context, inputs["factor"], earlier)


def preview_branch(results: Results) -> str:
    (mass,) = [one for one in results["build"]["masses"] if one["body"] == PLANET]
    amount = f"{mass['earth_masses']:.4g} Earth masses"
    return f"A branch leaves the universe as it is: in the universe, {mass['name']} keeps its {amount}."


def describe_branch(results: Results) -> Description:
    branch = results["branch"]
    mass = branch["after"]
    return Description(
        f"On a branch of version {branch['from']['version']}, {mass['name']} now has {mass['earth_masses']:.4g} "
        f"instead of {branch['before']:.4g} Earth masses, {format_multiple(branch['factor'])} as much; the universe "
        f"itself is still at version {branch['from']['version_after']}.",
        [
            ("the new mass", format_mass_line(mass)),
            ("branch", branch["universe_id"]),
            ("if run again", describe_replacement(branch["factor"])),
        ],
        links=[("the branch", f"/universes/{branch['universe_id']}")],
        title=format_branch_title(branch["factor"]),
    )


def _name_branch(factor: float) -> str:
    return f"TRAPPIST-1, h times {factor:g}"


def describe_replacement(factor: float) -> str:
    """Return what is replaced when the step that made the branch with this factor is run again."""
    return f"the universe “{_name_branch(factor)}”, its N-body run and what follows from them are replaced"


def format_branch_title(factor: float) -> str:
    """Return the title of a step that has multiplied the mass of the planet."""
    return f"Planet h {'stays' if factor == 1 else 'becomes'} {format_multiple(factor)} as heavy"


async def run_scrub(context: StepContext, _inputs: StepInputs) -> ScrubResult:
    """Read every version of the branch, which changes nothing."""
    branch = context.results["branch"]
    text_of = make_paper_text_reader(context.folder.shelf)
    versions: list[VersionMass] = []
    async with open_universes() as service:
        for version in range(1, branch["version"] + 1):
            _, state = await read_universe(service, branch["universe_id"], version)
            mass = await asyncio.to_thread(describe_mass, state, PLANET, text_of)
            versions.append({"version": version, **mass})
        after = (await service.read_record(branch["universe_id"])).version
    return {"universe_id": branch["universe_id"], "versions": versions, "version_after": after}


def preview_scrub(results: Results) -> str:
    branch = results["branch"]
    return f"The branch has {plural(branch['version'], 'version')}; each can be read as it was."


def describe_scrub(results: Results) -> Description:
    found = results["scrub"]
    first, last = found["versions"][0], found["versions"][-1]
    return Description(
        f"At version {first['version']} of the branch the mass of {first['name']} is {first['earth_masses']:.4g} "
        f"Earth masses ({first['status']}), at version {last['version']} it is {last['earth_masses']:.4g} "
        f"({last['status']}); the branch is still at version {found['version_after']}.",
        [(f"version {one['version']}", format_mass_line(one)) for one in found["versions"]],
        links=[
            (f"version {one['version']}", f"/universes/{found['universe_id']}?version={one['version']}")
            for one in (first, last)
        ],
    )


BUILD: Final = DeclaredStep(
    "build", "Commands build the system", "you", "Build it", run_build, preview_build, describe_build
)
BRANCH: Final = DeclaredStep(
    "branch", "Planet h gets another mass", "you", "Branch", run_branch, preview_branch, describe_branch,
    (AskedValue("factor", "number", "How many times as heavy planet h becomes.", lambda _results: FIRST_FACTOR,
           LEAST_FACTOR, MOST_FACTOR),),
    can_repeat=True,
)  # fmt: skip
SCRUB: Final = DeclaredStep(
    "scrub", "You scrub back", "you", "Read every version", run_scrub, preview_scrub, describe_scrub, can_repeat=True,
)  # fmt: skip
