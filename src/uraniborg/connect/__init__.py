"""Connect MCP clients: write the servers of this installation into the configuration file of a client."""
