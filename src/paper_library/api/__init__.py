"""How programs reach the library: REST, HTML pages, nodes of workflows, and entry points of other parts."""
