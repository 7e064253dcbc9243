"""Routes of the API: one module for each page of the console, and one for what pages share."""
