"""What all parts need: errors, settings, files, the inbox, HTTP and MCP servers. Imports no part."""
