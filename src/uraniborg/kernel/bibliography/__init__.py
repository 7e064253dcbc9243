"""Bibliographic data that several parts write: person names, references, RIS and CSL-JSON."""
