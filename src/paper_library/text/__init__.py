"""What is done with text: words to search by, markdown, sentences. Pure functions."""
