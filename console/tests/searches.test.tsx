import { fireEvent, render } from "@testing-library/preact";
import { beforeEach, expect, test, vi } from "vitest";
import { navigate } from "../src/data/router.ts";
import { SearchesPage } from "../src/searches/searches_page.tsx";
import { StartDialog } from "../src/searches/start_dialog.tsx";
import { searchTexts } from "../src/searches/strings.ts";

const asked: string[] = [];

beforeEach(() => {
  asked.length = 0;
  navigate("/searches");
  HTMLDialogElement.prototype.showModal = vi.fn();
  HTMLDialogElement.prototype.close = vi.fn();
  vi.stubGlobal(
    "fetch",
    vi.fn(async (address: string) => {
      const words = new URL(address, location.href).searchParams.get("q") ?? "";
      asked.push(words);
      const sessions = words ? [] : [{ session_id: "s1", query: "Tides", phase: "completed", paper_count: 3 }];
      return new Response(JSON.stringify({ sessions, total: sessions.length, next_offset: null }));
    }),
  );
});

test("words typed to find a search are sent once, when the typing pauses", async () => {
  const { findByText, getByRole } = render(<SearchesPage />);
  await findByText("Tides");
  const field = getByRole("searchbox") as HTMLInputElement;
  for (const text of ["t", "ti", "tid", "tide"]) {
    fireEvent.input(field, { target: { value: text } });
    expect(new URLSearchParams(location.search).get("q")).toBe(text);
  }
  await findByText("No search matches.");
  expect(asked).toEqual(["", "tide"]);
  expect(field.value).toBe("tide");
});

test("a search cannot be started while the sources of its kind are unknown, and the dialog says why", async () => {
  const options = { offline: false, sources: [{ name: "arxiv", used: true, remark: "" }], domains: ["any"] };
  const rest = { default_domain: "any", default_max_results: 50, example: "" };
  vi.stubGlobal(
    "fetch",
    vi.fn(async (address: string) =>
      address.includes("offline=true")
        ? new Response(JSON.stringify({ error: { code: "busy", message: "Try later.", hint: "" } }), { status: 500 })
        : new Response(JSON.stringify({ ...options, ...rest })),
    ),
  );
  const { findByLabelText, findByText, getByRole } = render(<StartDialog onClose={() => undefined} />);
  fireEvent.input(await findByLabelText("What are you looking for?"), { target: { value: "tides" } });
  const start = getByRole("button", { name: searchTexts.searches.startButton, hidden: true }) as HTMLButtonElement;
  await vi.waitFor(() => expect(start.disabled).toBe(false));
  fireEvent.click(await findByLabelText(searchTexts.searches.trial));
  await findByText("Try later.");
  expect(start.disabled).toBe(true);
});
