"""The client that made the call being answered."""

from mcp.server.lowlevel.server import request_ctx

_MOST_CHARS = 100


def client_name() -> str | None:
    """Return the name and version that the client gave when it connected; None if it gave none.

    The name is as the client claims it, without characters that cannot be printed.
    """
    request = request_ctx.get(None)
    params = request.session.client_params if request is not None else None
    if params is None:
        return None
    given = f"{params.clientInfo.name[:_MOST_CHARS]} {params.clientInfo.version[:_MOST_CHARS]}"
    return "".join(char for char in given if char.isprintable()).strip() or None
