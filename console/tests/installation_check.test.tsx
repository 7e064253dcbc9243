import { fireEvent, render } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { InstallationCheck } from "../src/settings/installation_check.tsx";

const CHECKS = [
  { topic: "folders", name: "data", status: "ok", detail: "can be written" },
  { topic: "keys", name: "llm.api_key", status: "note", detail: "not set", hint: "Set LLM_API_KEY." },
  { topic: "ports", name: "universe", status: "warning", detail: "used by another program", hint: "Stop it." },
  { topic: "databases", name: "inbox", status: "failure", detail: "damaged", hint: "Restore a backup." },
];

test("the findings of a check are shown, problems first, each with what to do", async () => {
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(JSON.stringify({ ok: false, checks: CHECKS }))),
  );
  const { container, findByText, getByRole, getByText } = render(<InstallationCheck />);
  fireEvent.click(getByRole("button", { name: "Check the installation" }));
  await findByText("2 problems in 4 checks.");
  const rows = [...container.querySelectorAll("tbody tr")].map((row) => row.textContent);
  expect(rows.map((row) => row?.match(/^[a-z]+?(?=databases|ports|keys|folders)/)?.[0])).toEqual([
    "failure",
    "warning",
    "note",
    "fine",
  ]);
  getByText("Restore a backup.");
  getByText("1 check without a remark");
  getByRole("button", { name: "Check again" });
});

test("checks that cannot be run say why, and can be tried again", async () => {
  const error = { code: "doctor_unavailable", message: "The checks did not end.", hint: "Run `uraniborg doctor`." };
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(JSON.stringify({ error }), { status: 503 })),
  );
  const { findByRole, getByRole } = render(<InstallationCheck />);
  fireEvent.click(getByRole("button", { name: "Check the installation" }));
  expect((await findByRole("alert")).textContent).toContain("The checks did not end. Run uraniborg doctor.");
  getByRole("button", { name: "Check the installation" });
});
