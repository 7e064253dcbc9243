import { render } from "@testing-library/preact";
import { expect, test } from "vitest";
import { FindingList } from "../src/workflows/finding_list.tsx";

test("an unknown type lists the nearest types, and no tools of agents", () => {
  const finding = {
    severity: "error" as const,
    code: "unknown_type",
    path: "nodes[0].type",
    message: "There is no node type 'htp'.",
    hint: "Nearest: http, shell. `browse_components`, or `pflow browse`, lists 35 more.",
    available: ["http", "shell"],
    more_available: 35,
  };
  const { container, getByText } = render(<FindingList findings={[finding]} />);
  getByText("Available: http, shell, and 35 more");
  expect(container.textContent).not.toContain("browse");
});
