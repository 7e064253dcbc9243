"""How requests reach sources: keys, rate limits, retries, a cache, and recordings that replay a search."""
