"""The server side of the web console: the API under `/api`, and one stream of everything that changes."""
