"""Making, reading, replacing and deleting universes."""

from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI, Header, Query
from starlette.responses import Response

from universe.errors import MalformedRequest
from universe.initial_states import load_initial_state_async
from universe.rest.requests import BodyReader, check_object, parse_cursor, read_author, read_expected_version
from universe.rest.responses import make_created_response, make_etag, make_json_response
from universe.rest.schemas import (
    JSON,
    NEW,
    RECORD,
    REPLACED,
    Author,
    Expected,
    FactsList,
    Id,
    IfMatch,
    Version,
    make_request_body,
)
from universe.service.replies import describe_record, write_record
from universe.service.universes import UniverseService
from uraniborg.kernel.http_app import ErrorBody

PAGE: Final = 100


def add_universe_routes(app: FastAPI, service: UniverseService, body: BodyReader) -> None:
    @app.get("/universes", summary="What universes there are", response_model=FactsList)
    async def universes(  # pyright: ignore[reportUnusedFunction]
        limit: Annotated[int, Query(ge=1, le=1_000)] = PAGE,
        cursor: Annotated[str | None, Query(max_length=500, description="`next` of the page before.")] = None,
    ) -> Response:
        """The newest first, without their states."""
        found = await service.records(limit=limit + 1, before=parse_cursor(cursor))
        page = found[:limit]
        following = f"{page[-1].created_at}~{page[-1].id}" if len(found) > limit else None
        return make_json_response({"universes": [describe_record(one) for one in page], "next": following})

    @app.post(
        "/universes",
        summary="Make a universe",
        status_code=201,
        openapi_extra=make_request_body(NEW),
        responses={201: RECORD, 409: {"model": ErrorBody}},
    )
    async def create(  # pyright: ignore[reportUnusedFunction]
        given: Annotated[Any, Depends(body)], author: Author = None
    ) -> Response:
        """Empty, with a state, or from a real system or a seed (`from`)."""
        asked = check_object(given, ("name", "state", "from", "id"))
        state = asked.get("state")
        if "state" in asked and state is None:
            raise MalformedRequest("state is null.", hint="Leave it out for an empty universe.", argument="state")
        if asked.get("from") is not None:
            if state is not None:
                raise MalformedRequest("Give either state or from.", hint="One of the two.", argument="from")
            state = await load_initial_state_async(asked["from"])
        record = await service.create(asked.get("name"), state, universe_id=asked.get("id"), author=read_author(author))
        seen = await service.view(record.id)
        return await make_created_response(record, seen)

    @app.get("/universes/{universe_id}", summary="A universe", responses={200: RECORD, 304: {}})
    async def read(  # pyright: ignore[reportUnusedFunction]
        universe_id: Id,
        version: Version = None,
        if_none_match: Annotated[str | None, Header(alias="If-None-Match")] = None,
    ) -> Response:
        """With its state, as it is or as it was."""
        seen = await service.view(universe_id, version)
        headers = {"ETag": make_etag(seen.version, seen.record.name), "Cache-Control": "no-cache"}
        if headers["ETag"] in (if_none_match or "") or (if_none_match or "").strip() == "*":
            return Response(status_code=304, headers=headers)
        return Response(await write_record(seen.record, seen.replica), 200, headers, JSON)

    @app.put(
        "/universes/{universe_id}",
        summary="Rename a universe, or replace its state",
        openapi_extra=make_request_body(REPLACED),
        responses={200: RECORD, 409: {"model": ErrorBody}},
    )
    async def replace(  # pyright: ignore[reportUnusedFunction]
        universe_id: Id,
        given: Annotated[Any, Depends(body)],
        expected: Expected = None,
        if_match: IfMatch = None,
        author: Author = None,
    ) -> Response:
        """Both are optional. A state replaces the whole of the present one, its time too, and can be undone."""
        asked = check_object(given, ("name", "state"))
        for name in asked:
            if asked[name] is None:
                raise MalformedRequest(f"{name} is null.", hint="Leave out what is to stay.", argument=name)
        version = read_expected_version(expected, if_match)
        await service.replace(universe_id, **asked, expected_version=version, author=read_author(author))
        seen = await service.view(universe_id)
        headers = {"ETag": make_etag(seen.version, seen.record.name)}
        return Response(await write_record(seen.record, seen.replica), 200, headers, JSON)

    @app.delete("/universes/{universe_id}", summary="Delete a universe", status_code=204)
    async def delete(universe_id: Id) -> Response:  # pyright: ignore[reportUnusedFunction]
        """With its whole log. This cannot be undone."""
        await service.delete(universe_id)
        return Response(status_code=204)
