"""What pflow has on disk: workflow files, nodes, MCP servers, the log of runs, and results for resuming."""
