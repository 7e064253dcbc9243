"""Search: the query language, query compilation, ranking, snippets and facets."""
