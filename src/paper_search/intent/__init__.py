"""Intents and strategies by rule: pure functions from the text of a person to intents and query strategies.

`intent_reader` turns a query into an intent. `text_cleanup` and `courtesy_phrases` prepare the text. A reader for each
kind of wish cuts out the words it understands: `preferences`, `years`, `languages`, `result_limits`, `venues`,
`exclusions`, `authors`, `purpose`. `concepts` finds the concepts of the rest. `feedback` and `feedback_directions` read
feedback with the same readers.

`strategy_planner` turns an intent into a strategy. `query_composition` composes queries of concepts and synonyms;
`written_queries` recognises and changes boolean queries that a person wrote.

The phrases are data, in the folder `data`; those of years are in `uraniborg.kernel.years`.
`vocabulary` looks up the terms of a domain.
"""
