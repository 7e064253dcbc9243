"""Reads a person's words by rule: pure functions from text to intents and query strategies.

`reading` turns a query into an intent. It has `cleaning` prepare the text, a reader for each kind of wish (`years`,
`languages`, `amounts`, `venues`, `negatives`, `authors`, `purpose`) cut out what it understands, and `concepts` find
what the rest is about.

A boolean query that was typed as one is told by `typed` and kept as it is.

`planning` turns an intent into a strategy. It has `lessons` read the feedback, `limits` keep the limits sane, `ideas`
join concepts with their synonyms, `composing` make queries of those and `expression` write them down.

`vocabulary` looks up what a domain knows, `wordlists` holds the words that the rules know.
"""
