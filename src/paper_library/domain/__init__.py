"""Values of the library and pure functions on them: papers, queries, texts, entries and citations."""
