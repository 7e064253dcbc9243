"""Bibliographic data that several parts write: person names, citation keys, references, RIS and CSL-JSON."""
