"""A shelf of papers: built from what a researcher has, read-only, browsed by REST and read by agents over MCP."""
