"""Reads a person's words by rule: pure functions from text to intents and query strategies.

`reading` turns a query into an intent. It has `markup` and `cleaning` prepare the text, a reader for each kind of wish
(`preferences`, `years`, `languages`, `amounts`, `venues`, `negatives`, `authors`, `purpose`) cut out what it
understands, and `concepts` find what the rest is about. `remarks` reads a remark on a round with the same readers.

The phrases are data: `year_rules` (found by `year_phrases`), `preference_rules`, `courtesy_rules`.

A boolean query that was typed as one is told by `typed` and kept as it is.

`planning` turns an intent into a strategy. It has `lessons` read the feedback, `limits` keep the limits sane, `ideas`
join concepts with their synonyms, `composing` make queries of those and `expression` write them down.

`vocabulary` looks up what a domain knows, `wordlists` holds the words that the rules know.
"""
