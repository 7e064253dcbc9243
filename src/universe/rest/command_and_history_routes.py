"""REST routes for commands, the history, undo, restore and branches."""

from typing import Annotated, Final, Literal

from fastapi import Query
from starlette.responses import Response

from universe.replies import Facts, History, Result, Universe
from universe.rest.dependencies import Body, BodyIfAny, Sender, Universes, make_router
from universe.rest.requests import (
    check_object_fields,
    get_version_from_body,
    parse_expected_version,
)
from universe.rest.responses import (
    make_created_response,
    make_result_response,
)
from universe.rest.schemas import (
    AT_VERSION,
    BRANCHED,
    COMMANDS,
    LARGEST_VERSION,
    Expected,
    Id,
    IfMatch,
    Key,
    make_request_body,
)
from universe.service.replies import ReplyContent, describe_log_entry
from uraniborg.kernel.errors import ErrorBody

PAGE: Final = 100


router = make_router()


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
