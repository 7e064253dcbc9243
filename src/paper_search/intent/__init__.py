"""Intents and strategies by rule: pure functions from the text of a person to intents and query strategies.

`intent_reader` turns a query into an intent. `text_cleanup` and `courtesy_phrases` prepare the text. A reader for each
kind of wish cuts out the words it understands: `preferences`, `years`, `languages`, `result_limits`, `venues`,
`exclusions`, `authors`, `purpose`. What people write is in the folder `data`; phrases of years are in
`uraniborg.kernel.years`. `strategy_planner` turns an intent into a strategy of `concept_blocks` and their ladder.
"""
