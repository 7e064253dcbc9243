"""Commands, and going back and forth in what they did."""

from typing import Annotated, Any, Final

from fastapi import Depends, FastAPI, Query
from starlette.responses import Response

from universe.rest.answers import json_of, made, result_of
from universe.rest.asking import BodyReader, author_of, expected_version, object_of, version_in
from universe.rest.shapes import (
    AT_VERSION,
    BRANCHED,
    COMMANDS,
    LARGEST_VERSION,
    RECORD,
    RESULT,
    Author,
    Expected,
    Id,
    IfMatch,
    Key,
    body_of,
)
from universe.service.replies import Wanted, entry_facts
from universe.service.universes import UniverseService
from uraniborg.kernel.http_app import ErrorBody

PAGE: Final = 100


def add_commands(app: FastAPI, service: UniverseService, body: BodyReader) -> None:
    @app.post(
        "/universes/{universe_id}/commands",
        summary="Send a command",
        openapi_extra=body_of(COMMANDS),
        responses={200: RESULT, 409: {"model": ErrorBody}, 422: {"model": ErrorBody}},
    )
    async def send(  # pyright: ignore[reportUnusedFunction]
        universe_id: Id,
        given: Annotated[Any, Depends(body)],
        wanted: Annotated[Wanted, Query(alias="return", description="How much to answer with.")] = "state",
        expected: Expected = None,
        if_match: IfMatch = None,
        key: Key = None,
        author: Author = None,
    ) -> Response:
        """One command, or a list of which all or none take effect. 422 if the universe does not allow it."""
        version = expected_version(expected, if_match)
        result = await service.send(universe_id, given, expected_version=version, key=key, author=author_of(author))
        return await result_of(result, wanted)


def add_time(app: FastAPI, service: UniverseService, body: BodyReader, body_if_any: BodyReader) -> None:
    @app.get("/universes/{universe_id}/history", summary="What happened")
    async def history(  # pyright: ignore[reportUnusedFunction]
        universe_id: Id,
        after: Annotated[int, Query(ge=0, le=LARGEST_VERSION)] = 0,
        limit: Annotated[int, Query(ge=1, le=1_000)] = PAGE,
    ) -> Response:
        """The entries of the log after a version, in order."""
        entries = await service.history(universe_id, after=after, limit=limit)
        following = entries[-1].version if len(entries) == limit else None
        return json_of({"entries": [entry_facts(entry, universe_id) for entry in entries], "next": following})

    @app.post(
        "/universes/{universe_id}/undo",
        summary="Undo the last change",
        responses={200: RESULT, 409: {"model": ErrorBody}},
    )
    async def undo(  # pyright: ignore[reportUnusedFunction]
        universe_id: Id,
        wanted: Annotated[Wanted, Query(alias="return")] = "state",
        expected: Expected = None,
        if_match: IfMatch = None,
        author: Author = None,
    ) -> Response:
        """And, called again, the one before it. Restoring a later version takes it back."""
        version = expected_version(expected, if_match)
        result = await service.undo(universe_id, expected_version=version, author=author_of(author))
        return await result_of(result, wanted)

    @app.post(
        "/universes/{universe_id}/restore",
        summary="Go back to a version",
        openapi_extra=body_of(AT_VERSION),
        responses={200: RESULT, 409: {"model": ErrorBody}},
    )
    async def restore(  # pyright: ignore[reportUnusedFunction]
        universe_id: Id,
        given: Annotated[Any, Depends(body)],
        wanted: Annotated[Wanted, Query(alias="return")] = "state",
        expected: Expected = None,
        if_match: IfMatch = None,
        author: Author = None,
    ) -> Response:
        """Or forward again. It is a new change: nothing of the history is lost."""
        version = version_in(object_of(given, ("version",)), required=True)
        assert version is not None
        result = await service.restore(
            universe_id, version, expected_version=expected_version(expected, if_match), author=author_of(author)
        )
        return await result_of(result, wanted)

    @app.post(
        "/universes/{universe_id}/branch",
        summary="Branch a universe",
        status_code=201,
        openapi_extra=body_of(BRANCHED),
        responses={201: RECORD},
    )
    async def branch(  # pyright: ignore[reportUnusedFunction]
        universe_id: Id, given: Annotated[Any, Depends(body_if_any)], author: Author = None
    ) -> Response:
        """A new universe that begins as this one is, or was at a version."""
        asked = object_of({} if given is None else given, ("version", "name"))
        record = await service.branch(
            universe_id, version=version_in(asked), name=asked.get("name"), author=author_of(author)
        )
        seen = await service.look(record.id)
        return await made(record, seen)
