"""Intents and strategies by rule: pure functions of the text of a person and of data files in the folder `data`."""
