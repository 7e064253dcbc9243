"""REST routes that create, read and delete universes, send commands, and read, undo, restore and branch histories."""

from typing import Annotated, Final, Literal

from fastapi import Header, Query
from starlette.responses import Response

from universe.api.rest.requests import (
    Body,
    BodyIfAny,
    Sender,
    Services,
    Universes,
    check_object_fields,
    get_version_from_body,
    make_router,
    parse_cursor,
    parse_expected_version,
    parse_region,
)
from universe.api.rest.responses_and_schemas import (
    AT_VERSION,
    BRANCHED,
    COMMANDS,
    JSON,
    LARGEST_VERSION,
    NEW,
    REPLACED,
    AcceptEncoding,
    Expected,
    Id,
    IfMatch,
    Key,
    Version,
    make_compressed_response,
    make_created_response,
    make_etag,
    make_request_body,
    make_result_response,
)
from universe.errors import MalformedRequest
from universe.service.initial_states import load_or_generate_state_in_thread
from universe.service.replies import Facts, FactsList, History, Result, Universe
from universe.service.reply_encoding import ReplyContent, describe_log_entry, describe_record, encode_record_with_state
from universe.service.state_views import PartSelection, encode_part
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
    selection = PartSelection(ids, fields, under, parse_region(near), limit, cursor, format == "compact")
    view = await services.universes.view(universe_id, version)
    headers = {"ETag": make_etag(view.version, view.record.name), "Cache-Control": "no-cache"}
    if headers["ETag"] in (if_none_match or "") or (if_none_match or "").strip() == "*":
        return Response(status_code=304, headers=headers)
    if selection == PartSelection():
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


@router.post(
    "/universes/{universe_id}/commands",
    summary="Send a command",
    openapi_extra=make_request_body(COMMANDS),
    responses={200: {"model": Result}, 409: {"model": ErrorBody}, 422: {"model": ErrorBody}},
)
async def send(
    service: Universes,
    universe_id: Id,
    given: Body,
    actor: Sender,
    content: Annotated[ReplyContent, Query(alias="return", description="The content of the reply.")] = "state",
    expected: Expected = None,
    if_match: IfMatch = None,
    key: Key = None,
) -> Response:
    """Send one command, or a list of which all or none take effect. 422 if the universe does not allow it."""
    version = parse_expected_version(expected, if_match)
    result = await service.send(universe_id, given, expected_version=version, key=key, actor=actor)
    return await make_result_response(result, content)


@router.get("/universes/{universe_id}/history", summary="List the history")
async def history(
    service: Universes,
    universe_id: Id,
    after: Annotated[int, Query(ge=0, le=LARGEST_VERSION)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = PAGE,
) -> History:
    """List the entries of the log after a version, in order."""
    entries = await service.read_history(universe_id, after=after, limit=limit)
    following = entries[-1].version if len(entries) == limit else None
    return {"entries": [describe_log_entry(entry, universe_id) for entry in entries], "next": following}


@router.post(
    "/universes/{universe_id}/undo",
    summary="Undo the last change",
    responses={200: {"model": Result}, 409: {"model": ErrorBody}},
)
async def undo(
    service: Universes,
    universe_id: Id,
    actor: Sender,
    content: Annotated[ReplyContent, Query(alias="return")] = "state",
    expected: Expected = None,
    if_match: IfMatch = None,
) -> Response:
    """Undo the last change; call it again to undo earlier changes. Restore a later version to redo."""
    version = parse_expected_version(expected, if_match)
    result = await service.undo(universe_id, expected_version=version, actor=actor)
    return await make_result_response(result, content)


@router.post(
    "/universes/{universe_id}/restore",
    summary="Restore a version",
    openapi_extra=make_request_body(AT_VERSION),
    responses={200: {"model": Result}, 409: {"model": ErrorBody}},
)
async def restore(
    service: Universes,
    universe_id: Id,
    given: Body,
    actor: Sender,
    content: Annotated[ReplyContent, Query(alias="return")] = "state",
    expected: Expected = None,
    if_match: IfMatch = None,
) -> Response:
    """Restore an earlier or later version as a new change. The history keeps all changes."""
    version = get_version_from_body(check_object_fields(given, ("version",)), required=True)
    assert version is not None
    result = await service.restore(
        universe_id,
        version,
        expected_version=parse_expected_version(expected, if_match),
        actor=actor,
    )
    return await make_result_response(result, content)


@router.post(
    "/universes/{universe_id}/branch",
    summary="Branch a universe",
    status_code=201,
    openapi_extra=make_request_body(BRANCHED),
    responses={201: {"model": Universe | Facts}},
)
async def branch(
    service: Universes,
    universe_id: Id,
    given: BodyIfAny,
    actor: Sender,
    content: Annotated[
        Literal["state", "record"], Query(alias="return", description="record: the reply without the state.")
    ] = "state",
) -> Response:
    """Create a universe with the state of this one, now or at a version."""
    fields = check_object_fields({} if given is None else given, ("version", "name"))
    record = await service.branch(
        universe_id,
        version=get_version_from_body(fields),
        name=fields.get("name"),
        actor=actor,
    )
    return await make_created_response(record, await service.view(record.id) if content == "state" else None)
