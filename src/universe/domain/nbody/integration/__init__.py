"""The integration of bodies: attraction, methods, collisions, encounters and error estimates."""
