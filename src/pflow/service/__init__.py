"""The operations of pflow, their replies, and the engine that runs workflows."""
