"""The servers of `uraniborg serve`: one process with the console and the MCP servers, their sockets and credentials."""
