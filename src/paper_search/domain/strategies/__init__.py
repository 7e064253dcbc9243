"""Search strategies of librarians: PubMed syntax as trees, its problems, and its rendering for other databases.

`reader` reads a strategy, `lint` lists its problems, `translation` renders it for a database, and `plain_words` turns
it into a query without fields. The package imports the kernel alone.
"""
