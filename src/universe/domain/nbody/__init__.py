"""N-body runs and measurements: the start, the replies and the charts; below, the integration and the answers.

All modules use the reference frame of a system: right-handed axes, x and y in the reference plane, z its pole, in AU,
days and solar masses.
"""
