"""Intents and strategies by rule: pure functions from the text of a person to intents and query strategies.

`intent_reader` turns a query into an intent: what `preferences` and `wishes` read is cut out of a `reading`, and the
rest is the subject. `feedback` reads what to change. What people write is in the folder `data`; phrases of years are in
`uraniborg.kernel.years`. `strategy_planner` turns an intent into a strategy of `concept_blocks` and their ladder.
"""
