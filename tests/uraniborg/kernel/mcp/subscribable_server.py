"""A server whose resources can be subscribed to and changed; run as a script it serves over stdio."""

from uraniborg.kernel.errors import NotFound
from uraniborg.kernel.mcp import (
    Listed,
    Server,
    Subscriptions,
    add_subscriptions,
    make_server,
    resource,
    tool,
)


def subscribable_server(most: int = 1_000) -> tuple[Server, Subscriptions]:
    server = make_server("pages", version="1", instructions="A book of pages.")

    @resource(server, "page://title", title="Title")
    async def title() -> str:
        """Return the title page."""
        return "A book"

    @resource(server, "page://number/{number}", title="Page")
    async def page(number: str) -> str:
        """Return a page."""
        if not number.isdigit():
            raise NotFound(f"There is no page {number}.", hint="Pages are numbered.", number=number)
        return f"Page {number}"

    async def loose() -> list[Listed]:
        return [Listed("page://loose", "loose")]

    server.register_listing(loose)
    subscribed = add_subscriptions(server, most=most)

    @tool(server, title="Change", read_only=False)
    async def change(uri: str, times: int = 1) -> int:
        """Change a page."""
        for _ in range(times):
            subscribed.notify_updated(uri)
        return subscribed.count

    return server, subscribed


if __name__ == "__main__":
    subscribable_server()[0].run()
