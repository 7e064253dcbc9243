"""Making, reading, replacing and deleting universes."""

from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI, Header, Query
from starlette.responses import Response

from universe.errors import MalformedRequest
from universe.origins import plain_state_from
from universe.rest.answers import etag, json_of, made
from universe.rest.asking import BodyReader, author_of, expected_version, object_of, place_of
from universe.rest.shapes import (
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
    body_of,
)
from universe.service.replies import record_facts, record_json
from universe.service.universes import UniverseService
from uraniborg.kernel.http_app import ErrorBody

PAGE: Final = 100


def add_universes(app: FastAPI, service: UniverseService, body: BodyReader) -> None:
    @app.get("/universes", summary="What universes there are", response_model=FactsList)
    async def universes(  # pyright: ignore[reportUnusedFunction]
        limit: Annotated[int, Query(ge=1, le=1_000)] = PAGE,
        cursor: Annotated[str | None, Query(max_length=500, description="`next` of the page before.")] = None,
    ) -> Response:
        """The newest first, without their states."""
        found = await service.records(limit=limit + 1, before=place_of(cursor))
        page = found[:limit]
        following = f"{page[-1].created_at}~{page[-1].id}" if len(found) > limit else None
        return json_of({"universes": [record_facts(one) for one in page], "next": following})

    @app.post(
        "/universes",
        summary="Make a universe",
        status_code=201,
        openapi_extra=body_of(NEW),
        responses={201: RECORD, 409: {"model": ErrorBody}},
    )
    async def create(  # pyright: ignore[reportUnusedFunction]
        given: Annotated[Any, Depends(body)], author: Author = None
    ) -> Response:
        """Empty, with a state, or from a real system or a seed (`from`)."""
        asked = object_of(given, ("name", "state", "from", "id"))
        state = asked.get("state")
        if "state" in asked and state is None:
            raise MalformedRequest("state is null.", hint="Leave it out for an empty universe.", argument="state")
        if asked.get("from") is not None:
            if state is not None:
                raise MalformedRequest("Give either state or from.", hint="One of the two.", argument="from")
            state = await plain_state_from(asked["from"])
        record = await service.create(asked.get("name"), state, universe_id=asked.get("id"), author=author_of(author))
        seen = await service.look(record.id)
        return await made(record, seen)

    @app.get("/universes/{universe_id}", summary="A universe", responses={200: RECORD, 304: {}})
    async def read(  # pyright: ignore[reportUnusedFunction]
        universe_id: Id,
        version: Version = None,
        if_none_match: Annotated[str | None, Header(alias="If-None-Match")] = None,
    ) -> Response:
        """With its state, as it is or as it was."""
        seen = await service.look(universe_id, version)
        headers = {"ETag": etag(seen.version, seen.record.name), "Cache-Control": "no-cache"}
        if headers["ETag"] in (if_none_match or "") or (if_none_match or "").strip() == "*":
            return Response(status_code=304, headers=headers)
        return Response(await record_json(seen.record, seen.replica), 200, headers, JSON)

    @app.put(
        "/universes/{universe_id}",
        summary="Rename a universe, or replace its state",
        openapi_extra=body_of(REPLACED),
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
        asked = object_of(given, ("name", "state"))
        for name in asked:
            if asked[name] is None:
                raise MalformedRequest(f"{name} is null.", hint="Leave out what is to stay.", argument=name)
        version = expected_version(expected, if_match)
        await service.replace(universe_id, **asked, expected_version=version, author=author_of(author))
        seen = await service.look(universe_id)
        headers = {"ETag": etag(seen.version, seen.record.name)}
        return Response(await record_json(seen.record, seen.replica), 200, headers, JSON)

    @app.delete("/universes/{universe_id}", summary="Delete a universe", status_code=204)
    async def delete(universe_id: Id) -> Response:  # pyright: ignore[reportUnusedFunction]
        """With its whole log. This cannot be undone."""
        await service.delete(universe_id)
        return Response(status_code=204)
