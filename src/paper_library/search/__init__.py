"""Finding papers: the query language, the index, ranking, snippets, facets."""
