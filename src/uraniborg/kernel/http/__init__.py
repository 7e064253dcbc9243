"""HTTP servers of all parts: settings, checks of requests, errors as JSON, limits of connections, and their start."""
