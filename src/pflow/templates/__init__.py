"""Templates: `${input}`, `${node.output.path[0]}`, `${a ?? b ?? "text"}`, and `$${x}` for a `${x}` that is meant."""
