"""The processes that search, run workflows and run the story for the API."""
