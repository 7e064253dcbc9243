"""How programs reach a search: Python functions, dialogs and prompts of MCP clients, and nodes of workflows."""
