"""What all processes share on disk: files and databases, the inbox of decisions, the feed of changes, and logs."""
