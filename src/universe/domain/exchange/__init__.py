"""Import of real systems from tables of archives and other programs, and export of universes to such tables."""
