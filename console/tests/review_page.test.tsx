import { fireEvent, render, waitFor } from "@testing-library/preact";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { FlowReply, PaperRow } from "../src/data/api_types.ts";
import { startKeys } from "../src/data/keys.ts";
import { matchPath, navigate, path } from "../src/data/router.ts";
import { session } from "../src/data/session.ts";
import { ReviewPage } from "../src/review/review_page.tsx";
import { recallPlace } from "../src/review/verdict_drafts.ts";

startKeys();
const COUNT = 2_000;
const ROW_PX = 104;
const LIST_PX = 700;
const rows = Array.from({ length: COUNT }, (_, index) => makeRow(index));
const flow: Partial<FlowReply> = { identified: {}, removed: {}, excluded: {}, reasons: {}, labels: {} };
const sent: string[] = [];
const built: string[] = [];

function makeRow(index: number): PaperRow {
  const facts = { id: `p${index}`, rank: index + 1, title: `Moon ${index}`, year: 2000, relevance_score: 0.5 };
  const people = { authors: ["Tycho Brahe"], author_count: 1, others: [], others_hidden: 0, differs: false };
  const state = { status: "undecided", reason: null, is_marked: false, sources: ["alpha"], found_in_round: 0 };
  return { ...facts, ...people, ...state } as unknown as PaperRow;
}

async function answer(given: string, init?: RequestInit): Promise<Response> {
  const address = new URL(given, "http://localhost");
  if (init?.method === "PUT") {
    sent.push(...Object.keys(JSON.parse(String(init.body)).decisions));
    return Response.json({ marks: {} });
  }
  if (address.pathname.endsWith("/papers")) {
    const offset = Number(address.searchParams.get("offset"));
    const papers = rows.slice(offset, offset + 1_000);
    const next = offset + papers.length;
    const counts = { include: 0, exclude: 0, maybe: 0, undecided: COUNT };
    const list = {
      papers,
      total: COUNT,
      counts,
      facets: {},
      query: "Do moons heat?",
      is_complete: false,
      checkpoint_id: "c",
    };
    return Response.json({ ...list, next_offset: next < COUNT ? next : null });
  }
  if (address.pathname.endsWith("/search-shelves")) return Response.json({ shelves: [{ name: "moons", papers: 2 }] });
  if (address.pathname.endsWith("/shelf")) {
    if (init?.method === "POST") built.push(JSON.parse(String(init.body)).name);
    const done = { state: "done", shelf: built.at(-1), papers: 1, added: 1 };
    return Response.json(built.length ? done : { state: "none" });
  }
  if (address.pathname.endsWith("/reasons")) return Response.json({ reasons: [] });
  if (address.pathname.endsWith("/flow")) return Response.json(flow);
  const tree = {
    title_tree: [],
    abstract_tree: [],
    abstract_chars: 0,
    provenance: { records: [], fields: [] },
    notices: [],
  };
  return Response.json({ ...rows[Number(given.split("/p").at(-1))], ...tree });
}

function Page() {
  return <ReviewPage params={matchPath("/searches/{id}/review/{paper}", path.value) ?? { id: "s" }} />;
}

async function openReview() {
  const page = render(<Page />);
  await waitFor(() => expect(page.container.querySelectorAll(".virtual-list li").length).toBeGreaterThan(0));
  const list = page.container.querySelector(".virtual-list") as HTMLElement;
  return {
    page,
    list,
    listItems: () => [...list.querySelectorAll("li")],
    press: (...keys: string[]) => {
      for (const key of keys) fireEvent.keyDown(document.body, { key });
    },
  };
}

beforeEach(() => {
  HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
    this.open = true;
  };
  HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
    this.open = false;
  };
  session.value = { state: "signedIn", name: "Ada" };
  sent.length = 0;
  built.length = 0;
  vi.stubGlobal("fetch", answer);
  vi.stubGlobal("navigator", { locks: { request: (_: string, run: () => Promise<void>) => run() } });
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(LIST_PX);
  const places = new WeakMap<Element, number>();
  vi.spyOn(Element.prototype, "scrollTop", "get").mockImplementation(function (this: Element) {
    return places.get(this) ?? 0;
  });
  vi.spyOn(Element.prototype, "scrollTop", "set").mockImplementation(function (this: Element, top: number) {
    const height = Number.parseFloat((this.firstElementChild as HTMLElement | null)?.style.height ?? "0");
    places.set(this, Math.max(0, Math.min(top, height - LIST_PX))); // a browser does not scroll beyond the end
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  session.value = { state: "checking" };
});

test("2,000 papers draw few rows, keys work at the end of the list, and its place is restored", async () => {
  navigate("/searches/s/review");
  const first = await openReview();
  await waitFor(() => expect(first.page.getByText("2,000 papers")).toBeTruthy());
  await waitFor(() => expect(first.listItems()[0]?.getAttribute("aria-setsize")).toBe(String(COUNT)));
  expect(first.listItems().length).toBeLessThan(60);
  expect(first.page.getByTitle("Do moons heat?")).toBeTruthy();
  navigate(`/searches/s/review/p${COUNT - 2}`);
  await waitFor(() => expect(first.listItems().at(-1)?.getAttribute("aria-posinset")).toBe(String(COUNT)));
  expect(first.listItems().length).toBeLessThan(60);
  first.press("j", "j", "j");
  expect(path.value).toBe(`/searches/s/review/p${COUNT - 1}`);
  const end = COUNT * ROW_PX - LIST_PX;
  await waitFor(() => expect(first.list.scrollTop).toBe(end));
  first.press("i", "Enter", "k", "m", "Enter");
  await waitFor(() => expect(sent).toEqual([`p${COUNT - 1}`, `p${COUNT - 2}`]));
  expect(path.value).toBe(`/searches/s/review/p${COUNT - 2}`); // no later paper is without a verdict
  first.press("j");
  first.page.unmount();
  navigate("/searches");
  expect(recallPlace("s")).toBe(`/searches/s/review/p${COUNT - 1}`);
  navigate(recallPlace("s"));
  const second = await openReview();
  await waitFor(() => expect(second.list.scrollTop).toBe(end));
  expect(second.listItems().at(-1)?.querySelector("a")?.getAttribute("aria-current")).toBe("true");
});

test("Enter saves after a key of the review, whatever was clicked before it, and presses a button without one", async () => {
  navigate("/searches/s/review");
  const { page, listItems } = await openReview();
  const filter = page.getByRole("button", { name: "Filter" });
  const pressFocused = (...keys: string[]) =>
    keys.map((key) => fireEvent.keyDown(document.activeElement ?? document.body, { key }));
  filter.focus();
  expect(pressFocused("Enter")).toEqual([true]); // the browser presses the button
  pressFocused("j", "i", "Enter");
  await waitFor(() => expect(sent).toEqual(["p0"]));
  const link = listItems()[1]?.querySelector("a");
  link?.focus();
  pressFocused("j", "m", "Enter");
  await waitFor(() => expect(sent).toEqual(["p0", "p2"]));
  for (const key of ["x", "k"]) {
    filter.focus();
    pressFocused(key);
    expect(document.activeElement).toBe(document.body);
  }
});

test("saving goes to the next paper without a verdict, and j to every paper", async () => {
  navigate("/searches/s/review/p1");
  const { press } = await openReview();
  press("i", "Enter");
  expect(path.value).toBe("/searches/s/review/p2");
  press("k", "k", "m", "Enter");
  expect(path.value).toBe("/searches/s/review/p2");
  press("k");
  expect(path.value).toBe("/searches/s/review/p1");
  press("j");
  expect(path.value).toBe("/searches/s/review/p2");
});

test("a new shelf with the name of a shelf is refused at its field, and a shelf that was built is linked", async () => {
  navigate("/searches/s/review");
  const { page } = await openReview();
  fireEvent.click(await page.findByText("Put on a shelf"));
  const field = page.getByLabelText("Name of the shelf");
  const build = (name: string) => {
    fireEvent.input(field, { target: { value: name } });
    fireEvent.submit(field.closest("form") as HTMLFormElement);
  };
  build("planets");
  await waitFor(() => expect(page.getByText("The shelf planets has 1 paper, 1 new.")).toBeTruthy());
  expect(page.getByText("Open the shelf").getAttribute("href")).toBe("/library/planets");
  build("moons");
  await waitFor(() => expect(field.getAttribute("aria-invalid")).toBe("true"));
  expect(page.getByText(/^The shelf moons exists\./).getAttribute("role")).toBe("alert");
  expect(page.queryByText(/The shelf planets has/)).toBeNull();
  expect(built).toEqual(["planets"]);
  fireEvent.input(field, { target: { value: "moons-2" } });
  expect(field.getAttribute("aria-invalid")).toBeNull();
});
