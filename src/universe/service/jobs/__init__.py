"""Jobs: N-body runs, transits and radial velocities that worker processes compute, with stored results."""
