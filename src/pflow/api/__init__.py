"""How programs reach the service beside the tools of the MCP server: dialogs, prompts, progress and a worker."""
