"""Bibliographic data that several parts write: person names, citation keys, references, BibTeX, RIS and CSL-JSON."""
