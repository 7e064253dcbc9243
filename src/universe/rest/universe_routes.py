"""REST routes that create, list, read, replace and delete universes."""

from typing import Annotated, Final, Literal

from fastapi import Header, Query
from starlette.responses import Response

from universe.errors import MalformedRequest
from universe.initial_states import load_or_generate_state_in_thread
from universe.replies import FactsList, Universe
from universe.rest.dependencies import Body, Sender, Services, Universes, make_router
from universe.rest.requests import (
    check_object_fields,
    parse_cursor,
    parse_expected_version,
    parse_region,
)
from universe.rest.responses import (
    make_compressed_response,
    make_created_response,
    make_etag,
)
from universe.rest.schemas import (
    JSON,
    NEW,
    REPLACED,
    AcceptEncoding,
    Expected,
    Id,
    IfMatch,
    Version,
    make_request_body,
)
from universe.service.replies import describe_record, encode_record_with_state
from universe.service.state_parts import Selection, encode_part
from uraniborg.kernel.errors import ErrorBody

PAGE: Final = 100
MAX_IDS: Final = 1_000


router = make_router()


@router.get("/universes", summary="List universes")
async def list_universes(
    service: Universes,
    limit: Annotated[int, Query(ge=1, le=1_000)] = PAGE,
    cursor: Annotated[str | None, Query(max_length=500, description="`next` of the previous page.")] = None,
) -> FactsList:
    """List universes without their states, newest first."""
    found = await service.list_records(limit=limit + 1, before=parse_cursor(cursor))
    page = found[:limit]
    following = f"{page[-1].created_at}~{page[-1].id}" if len(found) > limit else None
    return {"universes": [describe_record(one) for one in page], "next": following}


@router.post(
    "/universes",
    summary="Create a universe",
    status_code=201,
    openapi_extra=make_request_body(NEW),
    responses={201: {"model": Universe}, 409: {"model": ErrorBody}},
)
async def create(service: Universes, given: Body, actor: Sender) -> Response:
    """Create an empty universe, one with a state, or one from a real system or a seed (`from`, `settings`)."""
    fields = check_object_fields(given, ("name", "state", "from", "settings", "id"))
    state = fields.get("state")
    if "state" in fields and state is None:
        raise MalformedRequest("state is null.", hint="Leave it out for an empty universe.", argument="state")
    if fields.get("from") is not None:
        if state is not None:
            raise MalformedRequest("state and from cannot be combined.", hint="Give one of them.", argument="from")
        state = await load_or_generate_state_in_thread(fields["from"], fields.get("settings"))
    elif fields.get("settings") is not None:
        raise MalformedRequest("settings need from.", hint="For example seed:classic:42.", argument="settings")
    record = await service.create(fields.get("name"), state, universe_id=fields.get("id"), actor=actor)
    view = await service.view(record.id)
    return await make_created_response(record, view)


@router.get("/universes/{universe_id}", summary="Read a universe", responses={200: {"model": Universe}, 304: {}})
async def read(
    services: Services,
    universe_id: Id,
    ids: Annotated[
        list[str] | None, Query(max_length=MAX_IDS, description="Only these entities; repeat it for several.")
    ] = None,
    fields: Annotated[
        list[str] | None, Query(max_length=100, description="Only these fields of entities, such as `name`.")
    ] = None,
    under: Annotated[str | None, Query(description="Only this body and the bodies below it.")] = None,
    near: Annotated[
        str | None,
        Query(max_length=200, description="Only bodies in the sphere x,y,z,radius at the state's time."),
    ] = None,
    limit: Annotated[int | None, Query(ge=1, le=100_000, description="The most bodies in this page.")] = None,
    cursor: Annotated[str | None, Query(description="`next` of the previous page.")] = None,
    format: Annotated[  # noqa: A002 - the usual name
        Literal["full", "compact"], Query(description="compact: each citation once, in `sources` of the reply.")
    ] = "full",
    version: Version = None,
    if_none_match: Annotated[str | None, Header(alias="If-None-Match")] = None,
    accept_encoding: AcceptEncoding = None,
) -> Response:
    """Read a universe with its state, now or at a version, or a part of it."""
    selection = Selection(ids, fields, under, parse_region(near), limit, cursor, format == "compact")
    view = await services.universes.view(universe_id, version)
    headers = {"ETag": make_etag(view.version, view.record.name), "Cache-Control": "no-cache"}
    if headers["ETag"] in (if_none_match or "") or (if_none_match or "").strip() == "*":
        return Response(status_code=304, headers=headers)
    if selection == Selection():
        body = await encode_record_with_state(view.record, view.replica)
    else:
        body = await encode_part(view.record, view.replica, selection, services.positions)
    return await make_compressed_response(body, headers, JSON, accept_encoding)


@router.put(
    "/universes/{universe_id}",
    summary="Rename a universe, or replace its state",
    openapi_extra=make_request_body(REPLACED),
    responses={200: {"model": Universe}, 409: {"model": ErrorBody}},
)
async def replace(
    service: Universes,
    universe_id: Id,
    given: Body,
    actor: Sender,
    expected: Expected = None,
    if_match: IfMatch = None,
) -> Response:
    """Replace the name, the state, or both. The whole state is replaced, with its time; this can be undone."""
    fields = check_object_fields(given, ("name", "state"))
    for name in fields:
        if fields[name] is None:
            raise MalformedRequest(f"{name} is null.", hint="Leave out the fields that do not change.", argument=name)
    version = parse_expected_version(expected, if_match)
    await service.replace(universe_id, **fields, expected_version=version, actor=actor)
    view = await service.view(universe_id)
    headers = {"ETag": make_etag(view.version, view.record.name)}
    return Response(await encode_record_with_state(view.record, view.replica), 200, headers, JSON)


@router.delete("/universes/{universe_id}", summary="Delete a universe", status_code=204)
async def delete(service: Universes, universe_id: Id, actor: Sender) -> Response:
    """Delete a universe and its whole log. This cannot be undone."""
    await service.delete(universe_id, actor=actor)
    return Response(status_code=204)
