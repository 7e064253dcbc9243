"""Phrases that limit years, as data: for each language the patterns and their meanings.

A rule is a meaning and a pattern. `years` interprets the meanings. Patterns use these placeholders:

- `{when}` a year or a decade, `{year}` a year, `{first}` and `{second}` the ends of a range, `{to}` what joins them
- `{number}` and `{unit}` an age such as "five years", `{now}` the present
- `{stop}` a position where the phrase can end, so that "after 2000 cycles" is not read
- `{papers}` a noun for publications, `{things}` one that names no kind of them

Meanings: `since`, `after`, `until`, `before` and `in` apply to a year; `range` and `bare range` (without a word of
time) to two; `within`, `older` and `aged` to an age; `recent` to neither.

`unwanted` stands before a limit and inverts it ("skip those before 2017"), `excluded` stands behind it ("pre-2017
excluded").
"""
