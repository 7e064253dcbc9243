import { render } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { NodeTypes } from "../src/workflows/node_types.tsx";

function answer(count: number, total: number): void {
  const nodes = Array.from({ length: count }, (_, index) => ({
    type: `kind-${index}`,
    description: "Does something.",
    inputs: [{ key: "url", type: "string", required: true, description: `The address ${index}.` }],
    outputs: [],
  }));
  const reply = { nodes, total, truncated: count < total };
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(JSON.stringify(reply))),
  );
}

test("every type that the server lists is shown, with its parameters, and the number of those left out", async () => {
  answer(60, 1_500);
  const { findByText, getByText } = render(<NodeTypes onInsert={vi.fn()} />);
  await findByText("kind-59");
  getByText(/The address 59/);
  getByText("And 1,440 more: type a word to find them.");
});

test("nothing is said to be left out of a complete list", async () => {
  answer(2, 2);
  const { findByText, queryByText } = render(<NodeTypes onInsert={vi.fn()} />);
  await findByText("kind-1");
  expect(queryByText(/more/)).toBeNull();
});
