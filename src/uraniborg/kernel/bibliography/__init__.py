"""Bibliographic data: identifiers, names, citation keys, LaTeX, and references as BibTeX, RIS and CSL-JSON."""
