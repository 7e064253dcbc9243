"""One grammar of years of publication in sentences, for all parts: bounds, relative ages, decades and negations.

`phrases.txt` and `numbers.txt` hold what people write, `grammar` finds it and `reading` says which years it means.
"""
