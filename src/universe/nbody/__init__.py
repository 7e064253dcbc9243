"""N-body motion: where a run starts, how bodies move by their gravity, how wrong the result may be, what it answers.

Everything here works in the reference frame of a system: right-handed axes, x and y in the reference plane, z its pole,
in AU, days and solar masses.
"""
