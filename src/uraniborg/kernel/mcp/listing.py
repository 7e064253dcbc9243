"""Resources that are listed because they exist right now, not because they were registered."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp.types import Resource
from pydantic import AnyUrl

from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.mcp.reply import ends_the_call, noted, protocol_error
from uraniborg.kernel.text import whole_text

if TYPE_CHECKING:
    from uraniborg.kernel.mcp.server import Server

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Listed:
    """A resource in a list. What its `uri` holds is read through a resource registered for it or for its like."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str = "text/plain"


Listing = Callable[[], Awaitable[Iterable[Listed]]]

PagedListing = Callable[[str | None], Awaitable[tuple[Iterable[Listed], str | None]]]
"""Takes the cursor of a page, None for the first; returns the page and the cursor of the next page, if there is one."""


def list_more(server: "Server", function: Listing) -> None:
    """Adds to the registered resources of `server`, each time they are listed, what `function` returns then.

    A uri that is listed already is passed over. Where `function` fails the list goes without its part, and the log
    says why.
    """
    server.register_listing(function)


def list_pages(server: "Server", function: PagedListing) -> None:
    """Add the pages of `function` to the registered resources of `server`: the first page with them, others alone.

    A failure on the first page is logged and leaves the page out; on a later page it is the reply. `function` raises
    InvalidInput for a cursor that it does not know. Raises TypeError if the server has a paged listing already.
    """
    server.register_paged_listing(function)


async def list_page(
    resources: list[Resource], function: PagedListing, cursor: str | None
) -> tuple[list[Resource], str | None]:
    """Return `resources`, then the page at `cursor`, and the cursor of the next page. Raises McpError."""
    following: str | None = None

    async def page() -> Iterable[Listed]:
        nonlocal following
        listed, following = await function(cursor)
        return listed

    if cursor is None:
        return await with_listed(resources, [page]), following
    try:
        listed = await page()
    except BaseException as exc:
        if ends_the_call(exc):
            raise
        raise protocol_error(noted(exc, during="listing resources")) from exc
    return [resource for one in listed if (resource := _resource(one)) is not None], following


async def with_listed(resources: list[Resource], functions: Iterable[Listing]) -> list[Resource]:
    """`resources` and after them what the functions list. Never raises because one of them fails."""
    known = {str(resource.uri): resource for resource in resources}
    for function in functions:
        try:
            more = [_resource(listed) for listed in await function()]
        except BaseException as exc:
            if ends_the_call(exc):
                raise
            _log.exception("resources could not be listed", exc=exc)
        else:
            for resource in more:
                if resource is not None:
                    known.setdefault(str(resource.uri), resource)
    return list(known.values())


def _resource(listed: Listed) -> Resource | None:
    try:
        uri = AnyUrl(listed.uri)
    except ValueError:
        _log.warning("a resource was not listed: its uri is none", uri=listed.uri[:200])
        return None
    return Resource(
        uri=uri,
        name=whole_text(listed.name),
        title=None if listed.title is None else whole_text(listed.title),
        description=None if listed.description is None else whole_text(listed.description),
        mimeType=listed.mime_type,
    )
