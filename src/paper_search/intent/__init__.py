"""Intents and strategies by rule, pure functions: `intent_reader` and `feedback` read what a person writes.

What `preferences` and `wishes` read is cut out of a `reading`; the phrases are in the folder `data`. `strategy_planner`
turns an intent into a strategy of `concept_blocks` and their ladder.
"""
