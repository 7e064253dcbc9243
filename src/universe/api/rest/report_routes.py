"""REST routes for imports, exports, pictures, citations, physical quantities, differences, origins and commands."""

import asyncio
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

from fastapi import Query
from starlette.responses import Response

from universe.api.rest.requests import Body, Sender, Universes, check_object_fields, make_router
from universe.api.rest.responses_and_schemas import (
    IMPORTED,
    LARGEST_VERSION,
    SVG,
    Id,
    Version,
    make_etag,
    make_json_response,
    make_request_body,
)
from universe.domain.command_catalogue import CommandList, list_command_categories
from universe.domain.exchange.exports import MEDIA_TYPES, ExportFormat, render_export
from universe.domain.physics.formulas import Physics
from universe.domain.provenance.bibliography import BodyOrigins, Citations, ValueOrigin
from universe.errors import MalformedRequest
from universe.service.initial_states import get_default_universe_name
from universe.service.replies import Differences, ImportReply, OriginList
from universe.service.state_views import compare_plain_states
from universe.service.universes import UniverseService, UniverseView
from uraniborg.kernel.errors import ErrorBody

if TYPE_CHECKING:
    from universe.domain.exchange.importer import ImportOptions


PNG: Final = "image/png"
_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "format": ("archive", "bodies", "vectors", "horizons"),
    "omegaOf": ("star", "planet"),
    "circumbinary": ("refuse", "barycentre"),
    "units": ("au-day", "au-year", "au-yr2pi", "si"),
}

AnyVersion = Annotated[int | None, Query(ge=0, le=LARGEST_VERSION)]
OtherId = Annotated[
    str | None, Query(alias="with", max_length=1_000, description="Compare with this universe instead.")
]


router = make_router()


@router.post(
    "/universes/import",
    summary="Import systems from a table",
    status_code=201,
    openapi_extra=make_request_body(IMPORTED),
    responses={422: {"model": ErrorBody}},
)
async def import_universes(service: Universes, given: Body, actor: Sender) -> ImportReply:
    """Create a universe, or with `each` one for every system, from the text of a table in `content`.

    The reply has the universes and the report: skipped rows with reasons, and assumptions.
    """
    from universe.service.initial_states import create_imported_universes  # imports numpy

    fields = check_object_fields(given, ("content", "name", "id", "each", "dryRun", *_CHOICES))
    return await create_imported_universes(
        service,
        _read_contents(fields.get("content")),
        _make_import_options(fields),
        each=_read_flag(fields, "each"),
        name=fields.get("name"),
        universe_id=fields.get("id"),
        actor=actor,
        dry_run=_read_flag(fields, "dryRun"),
    )


@router.get(
    "/universes/{universe_id}/export",
    summary="Export a universe",
    responses={
        200: {"content": {kind.partition(";")[0]: {} for kind in MEDIA_TYPES.values()}},
        422: {"model": ErrorBody},
    },
)
async def export(
    service: Universes,
    universe_id: Id,
    format: Annotated[ExportFormat, Query()] = "json",  # noqa: A002 - the usual name
    days: Annotated[float, Query(allow_inf_nan=False, description="The duration of a REBOUND script.")] = 365.25,
    version: Version = None,
) -> Response:
    """Return a universe as JSON, as a table of bodies (csv, votable), or as a start for REBOUND."""
    view = await service.view(universe_id, version)
    written = await asyncio.to_thread(
        lambda: render_export(
            view.replica.mirror.to_plain(),
            format,
            universe_id=view.record.id,
            name=view.record.name,
            version=view.version,
            days=days,
        )
    )
    return Response(written, 200, {"ETag": make_etag(view.version)}, MEDIA_TYPES[format])


@router.get(
    "/universes/{universe_id}/plot",
    summary="Draw the orbits",
    responses={200: {"content": {SVG: {}, PNG: {}}}, 422: {"model": ErrorBody}},
)
async def plot(
    service: Universes,
    universe_id: Id,
    t: Annotated[float | None, Query(allow_inf_nan=False, description="Default: the time of the universe.")] = None,
    scale: Annotated[Literal["auto", "linear", "log"], Query(description="The scale of distances.")] = "auto",
    format: Annotated[Literal["svg", "png"], Query()] = "svg",  # noqa: A002 - the usual name
    version: Version = None,
) -> Response:
    """Draw the orbits of a universe, seen from above, as `universe plot` does."""
    view = await service.view(universe_id, version)
    picture = await asyncio.to_thread(_draw_universe, view, t, scale, format)
    return Response(picture, 200, {"ETag": make_etag(view.version)}, SVG if format == "svg" else PNG)


@router.get(
    "/universes/{universe_id}/cite",
    summary="Cite the sources",
    responses={
        200: {"model": Citations | BodyOrigins | ValueOrigin, "content": {"application/x-bibtex": {}}},
        422: {"model": ErrorBody},
    },
)
async def cite(
    service: Universes,
    universe_id: Id,
    body: Annotated[str | None, Query(max_length=256, description="The values of this body, by id or name.")] = None,
    field: Annotated[str | None, Query(max_length=256, description="With body: the origin of this field.")] = None,
    physics: Annotated[bool, Query(description="Add the papers behind computed quantities.")] = False,
    format: Annotated[Literal["json", "bibtex"], Query()] = "json",  # noqa: A002 - the usual name
    version: Version = None,
) -> Response:
    """Return the bibliography of a universe, or the origin of the values of a body, as `universe cite` does."""
    if field is not None and body is None:
        raise MalformedRequest("field needs body.", hint="For example body=trappist-1-e.", argument="body")
    if body is not None:
        return make_json_response(await _describe_value_origins(service, universe_id, body, field, version))
    view = await service.view(universe_id, version)
    reply = await asyncio.to_thread(_collect_citations, view, physics)
    if format == "bibtex":
        return Response(reply["bibtex"], media_type="application/x-bibtex")
    return make_json_response(reply)


@router.get("/universes/{universe_id}/physics", summary="Compute physical quantities")
async def physics(
    service: Universes,
    universe_id: Id,
    version: Version = None,
    bodies: Annotated[bool, Query(description="False: habitable zones without the values of bodies.")] = True,
) -> Physics:
    """Return starlight, temperatures, habitable zones and densities, as `universe show --physics` does."""
    view = await service.view(universe_id, version)
    return await asyncio.to_thread(_report_physics, view, bodies)


@router.get("/universes/{universe_id}/differences", summary="Compare two versions or two universes")
async def differences(
    service: Universes,
    universe_id: Id,
    first: Annotated[AnyVersion, Query(alias="from", description="The earlier version. Default: the first.")] = None,
    last: Annotated[AnyVersion, Query(alias="to", description="The later version. Default: now.")] = None,
    other: OtherId = None,
) -> Differences:
    """Return what differs between two versions of a universe, or between another universe and this one.

    With `with`, `from` is a version of the other universe, and `to` one of this universe.
    """
    after = await service.view(universe_id, last)
    before = await service.view(
        universe_id if other is None else other, (0 if other is None else None) if first is None else first
    )
    found = await asyncio.to_thread(
        lambda: compare_plain_states(before.replica.mirror.to_plain(), after.replica.mirror.to_plain())
    )
    return {
        "from": {"id": before.record.id, "version": before.version},
        "to": {"id": after.record.id, "version": after.version},
        **found,
    }


def _read_contents(content: Any) -> list[bytes]:
    texts = cast("list[Any]", content) if isinstance(content, list) else [content]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise MalformedRequest(
            "content must be the text of a table, or a list of texts.",
            hint="Send the content of the file as a JSON string.",
            argument="content",
        )
    return [text.encode() for text in texts]


def _make_import_options(fields: dict[str, Any]) -> "ImportOptions":
    from universe.domain.exchange.importer import ImportOptions  # imports numpy

    for name, allowed in _CHOICES.items():
        if fields.get(name) is not None and fields[name] not in allowed:
            raise MalformedRequest(
                f"{name} must be one of {', '.join(allowed)}.", hint="Correct it.", argument=name, allowed=list(allowed)
            )
    return ImportOptions(
        fields.get("format"),
        fields.get("omegaOf") or "star",
        fields.get("circumbinary") or "refuse",
        fields.get("units"),
    )


def _read_flag(fields: dict[str, Any], name: str) -> bool:
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise MalformedRequest(f"{name} must be true or false.", hint="Leave it out for false.", argument=name)
    return value


def _draw_universe(view: UniverseView, t: float | None, scale: str, format_name: str) -> bytes:
    from universe.domain.plotting import draw_universe, render_png, render_svg

    plain = view.replica.mirror.to_plain()
    time = plain["time"] if t is None else t
    drawing = draw_universe(plain["stars"], t=time, title=view.record.name, scale=scale)
    return render_svg(drawing).encode() if format_name == "svg" else render_png(drawing)


def _collect_citations(view: UniverseView, physics: bool) -> Citations:
    from universe.domain.provenance.bibliography import collect_cited_sources, format_bibtex

    plain = view.replica.mirror.to_plain()
    bodies = dict(plain["stars"])
    if physics:
        from universe.domain.physics.physics_report import make_computed_sources_entry

        bodies |= make_computed_sources_entry(plain)
    sources = collect_cited_sources(bodies)
    return {"sources": sources, "bibtex": format_bibtex(sources)}


def _report_physics(view: UniverseView, has_bodies: bool) -> Physics:
    from universe.domain.physics import report_physics, report_zones

    plain, universe_id, version = view.replica.mirror.to_plain(), view.record.id, view.version
    if has_bodies:
        return {"id": universe_id, "version": version, **report_physics(plain)}
    return {"id": universe_id, "version": version, **report_zones(plain)}


async def _describe_value_origins(
    service: UniverseService, universe_id: str, body: str, field: str | None, version: int | None
) -> BodyOrigins | ValueOrigin:
    from universe.service.papers import make_paper_text_reader
    from universe.service.value_origins import describe_sourced_values, trace_value_origin

    view = await service.view(universe_id, version)
    text_of = await asyncio.to_thread(make_paper_text_reader)
    # Reads the texts in a thread; later calls of the reader find them in memory.
    statuses = await asyncio.to_thread(
        lambda: describe_sourced_values(view.replica.mirror.to_plain()["stars"], body, text_of)
    )
    if field is None:
        return statuses
    return await trace_value_origin(service, view.record.id, body, field, version=version, text_of=text_of)


@router.get("/origins", summary="List what universes can be created from")
async def list_origins() -> OriginList:
    """Return the real systems, the presets of seeds, and the settings of seeds as a JSON schema."""
    return await asyncio.to_thread(_describe_universe_origins)


@router.get("/commands", summary="List the commands")
async def list_commands() -> CommandList:
    """Return every command with its fields, an example and its refusals."""
    return {"categories": await asyncio.to_thread(list_command_categories)}


def _describe_universe_origins() -> OriginList:
    from universe.domain import systems  # imports what a server without real systems does not need
    from universe.domain.generate.generation_config import STYLES, GenerationConfig
    from universe.domain.generate.grammar import TOPOLOGIES

    return {
        "systems": [{"id": name, "name": get_default_universe_name(name)} for name in systems.list_system_names()],
        "presets": [*TOPOLOGIES, *STYLES],
        "settings": GenerationConfig.model_json_schema(),
    }
