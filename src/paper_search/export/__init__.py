"""Papers out: JSON, BibTeX, Markdown, RIS, CSL-JSON."""
