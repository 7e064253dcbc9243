import { fireEvent, render } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { universeTexts } from "../src/universes/strings.ts";
import { UniversesPage } from "../src/universes/universes_page.tsx";

test("the universes stay on the page while more of them are read", async () => {
  const first = { id: "u1", name: "TRAPPIST-1", version: 1, updatedAt: "" };
  let answerMore: ((reply: Response) => void) | undefined;
  vi.stubGlobal("fetch", (address: string) => {
    if (!address.startsWith("/api/universes?")) return new Promise(() => undefined); // the pictures
    if (address.endsWith("limit=24")) return Promise.resolve(Response.json({ universes: [first], next: "u1" }));
    return new Promise((resolve) => {
      answerMore = resolve;
    });
  });
  const { container, findByText, getByText } = render(<UniversesPage />);
  const card = (await findByText("TRAPPIST-1")).closest("li");
  fireEvent.click(getByText(universeTexts.universes.more));
  await vi.waitFor(() => expect(answerMore).toBeDefined());
  expect(container.querySelector("li")).toBe(card);
  answerMore?.(Response.json({ universes: [first, { ...first, id: "u2", name: "Kepler-11" }], next: null }));
  await findByText("Kepler-11");
  expect(container.querySelector("li")).toBe(card);
  vi.unstubAllGlobals();
});
