import { fireEvent, render } from "@testing-library/preact";
import { beforeEach, expect, test, vi } from "vitest";
import { SearchesPage } from "../src/pages/searches.tsx";
import { navigate } from "../src/router.ts";

const asked: string[] = [];

beforeEach(() => {
  asked.length = 0;
  navigate("/searches");
  vi.stubGlobal(
    "fetch",
    vi.fn(async (address: string) => {
      asked.push(new URL(address, location.href).searchParams.get("q") ?? "");
      return new Response(JSON.stringify({ sessions: [], total: 0, next_offset: null }));
    }),
  );
});

test("words typed to find a search are sent once, when the typing pauses", async () => {
  const { findByText, getByRole } = render(<SearchesPage />);
  await findByText("No searches yet.");
  const field = getByRole("searchbox") as HTMLInputElement;
  for (const text of ["t", "ti", "tid", "tide"]) {
    fireEvent.input(field, { target: { value: text } });
    expect(new URLSearchParams(location.search).get("q")).toBe(text);
  }
  await findByText("No search matches.");
  expect(asked).toEqual(["", "tide"]);
  expect(field.value).toBe("tide");
});
