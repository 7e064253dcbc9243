"""The story: is TRAPPIST-1's chain stable if planet h is twice as heavy? In steps, for people and for a script.

    story = Story(find_story_home())
    await story.run_step("ask")
    story.get_state()

The steps use the real parts in a data folder of their own: a search of an agent that a person decides, a shelf, a
workflow that stops and resumes, universes, and N-body runs. Every sentence is computed from the results.
"""
