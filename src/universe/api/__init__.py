"""How programs reach universes: the server, REST, event streams, pages, and MCP and workflow nodes."""
