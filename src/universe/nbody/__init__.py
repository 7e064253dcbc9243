"""N-body integration: the start of a run, the methods, the errors and the answers.

All modules use the reference frame of a system: right-handed axes, x and y in the reference plane, z its pole,
in AU, days and solar masses.
"""
