"""Mount the universe server below the API: the same app that also listens at a port of its own.

Who has signed in is the actor of every change, under the name of the sign-in.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from starlette.types import Message, Receive, Scope, Send

from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.http_access import make_error_response

if TYPE_CHECKING:
    from universe.app import UniverseApp
    from universe.provenance.paper_uses import PaperUseIndex
    from uraniborg.part_servers import PartServer

API: Final = "/api"
_AUTHOR: Final = b"uraniborg-author"
"""The header with which programs claim a name, which is ignored here."""


class UniverseNotServed(Unavailable):
    code = "universe_not_served"


@dataclass
class UniverseMount:
    """The app of the universe server, once it is made; requests before that are refused with its problem."""

    part: "PartServer | None" = None
    app: "UniverseApp | None" = None
    _paper_uses: "PaperUseIndex | None" = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.app is None or not self.app.is_running:
            await make_error_response(self._make_error())(scope, receive, send)
            return
        headers = [(name, value) for name, value in scope["headers"] if name != _AUTHOR]
        await self.app.rest({**scope, "root_path": API, "headers": headers}, receive, _prefix_location(send))

    def get_paper_uses(self) -> "PaperUseIndex | None":
        """Return the index of the papers that bodies cite, or None if the server does not run."""
        from universe.provenance.paper_uses import PaperUseIndex

        if self.app is None or not self.app.is_running:
            return None
        if self._paper_uses is None:
            self._paper_uses = PaperUseIndex(self.app.service)
        return self._paper_uses

    def _make_error(self) -> UniverseNotServed:
        problem = self.part.problem if self.part else None
        if self.part is None or problem is None:
            return UniverseNotServed("The universe server is starting.", hint="Try again in a second.")
        return UniverseNotServed(f"The universe server does not run: {problem}", hint=self.part.hint or "")


def _prefix_location(send: Send) -> Send:
    """Return a `send` that makes the address of a new thing one of this API."""

    async def send_with_location(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers: list[tuple[bytes, bytes]] = list(message.get("headers", []))
            message["headers"] = [
                (name, API.encode() + value if name == b"location" and value.startswith(b"/") else value)
                for name, value in headers
            ]
        await send(message)

    return send_with_location
