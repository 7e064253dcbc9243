import { render } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { type Block, findBlockAt, type Inline, Passage, TextTree } from "../src/common/text_tree.tsx";
import type { PaperHit, PaperMetadata } from "../src/data/api_types.ts";
import { HitList } from "../src/library/hit_list.tsx";
import {
  formatLibraryQuery,
  formatYears,
  type LibraryQuery,
  makePaperAddress,
  makeYearBars,
  NO_QUERY,
  readLibraryQuery,
  readYears,
} from "../src/library/library_query.ts";
import { groupByFields } from "../src/library/paper_uses.ts";
import { listTerms } from "../src/library/query_terms.ts";
import { TranslationColumn } from "../src/library/reading.tsx";
import { NothingFound } from "../src/library/shelf_page.tsx";
import { libraryTexts } from "../src/library/strings.ts";

test("a search survives its address, whatever was typed", () => {
  const query = {
    q: 'author:"Mayor & Queloz" #1 ?=/%',
    sort: "year_asc" as const,
    filters: { author: "Ångström, A. & B.", year: "1995..2010" },
    offset: 40,
  };
  expect(readLibraryQuery(new URLSearchParams(formatLibraryQuery(query)))).toEqual(query);
  expect(formatLibraryQuery(readLibraryQuery(new URLSearchParams()))).toBe("");
});

test("an address with values that no shelf accepts shows the papers that the rest of it names", () => {
  const query = readLibraryQuery(new URLSearchParams("q=moon&sort=colour&year=soon&offset=-5&author=+"));
  expect(query).toEqual({ q: "moon", sort: "relevance", filters: {}, offset: 0 });
});

test("the address of a paper keeps its id and the position of the passage", () => {
  const address = makePaperAddress("my shelf", "10.1000/a b?#", undefined, 0);
  expect(address).toBe("/library/my%20shelf/10.1000%2Fa%20b%3F%23?at=0");
});

test("years are a range with open ends, in either order", () => {
  expect([formatYears(2010, 2001), formatYears(2010, 2010), formatYears(undefined, 1999), formatYears(2020, undefined)])
    // biome-ignore format: one line
    .toEqual(["2001..2010", "2010", "..1999", "2020.."]);
  expect(formatYears(undefined, undefined)).toBeUndefined();
  expect([readYears("2010"), readYears("..1999"), readYears("2020.."), readYears(undefined)]).toEqual([
    [2010, 2010],
    [undefined, 1999],
    [2020, undefined],
    [undefined, undefined],
  ]);
});

test("a histogram has a bar for years without papers, and few bars for many years", () => {
  const short = makeYearBars([
    { year: 2001, paper_count: 2 },
    { year: 2004, paper_count: 1 },
  ]);
  expect(short.map((bar) => bar.count)).toEqual([2, 0, 0, 1]);
  const long = makeYearBars([
    { year: 1543, paper_count: 1 },
    { year: 2026, paper_count: 7 },
  ]);
  expect(long.length).toBeLessThanOrEqual(49);
  expect(long.reduce((sum, bar) => sum + bar.count, 0)).toBe(8);
  expect([long[0]?.first, long.at(-1)?.last]).toEqual([1543, 2026]);
  expect(makeYearBars([])).toEqual([]);
});

test("a search without results says what can help, and the word meant is below", () => {
  const changes: unknown[] = [];
  const show = (query: Partial<LibraryQuery>, meant?: string) =>
    render(
      <NothingFound
        query={{ ...NO_QUERY, ...query }}
        meant={meant}
        suggestions={[]}
        onChange={(change) => changes.push(change)}
      />,
    ).container;
  expect(show({ q: "plannet" }, "planet").textContent).toContain("Check the spelling, or use another word.");
  expect(show({ q: "red planet" }).textContent).toContain("Check the spelling, or use fewer words.");
  expect(show({ q: "planet", filters: { tag: "a" } }).textContent).toContain("Check the spelling, or remove a filter.");
  expect(show({ q: "red planet", filters: { tag: "a" } }).textContent).toContain(
    "Use fewer words, or remove a filter.",
  );
  expect(show({ filters: { tag: "a" } }).textContent).toContain("Remove a filter.");
  expect(show({ offset: 40 }).textContent).toContain("The list of papers ends before this page.");
  const button = [...document.querySelectorAll("button")].find((one) => one.textContent === "planet");
  expect(button?.closest(".state")?.textContent).toContain("Did you mean planet?");
  button?.click();
  expect(changes).toEqual([{ q: "planet" }]);
});

test("the title and the section of a paper open it at the passage", () => {
  const hit: PaperHit = {
    paper_id: "a",
    title: "Moons",
    year: 2020,
    venue: "",
    snippet_markdown: "A **moon**.",
    snippet: [{ type: "text", text: "A moon." }],
    authors: [],
    score: 1,
    matched_fields: ["full_text"],
    section: "Results",
    offset: 70,
  };
  const query = { ...NO_QUERY, q: "moon" };
  const { container } = render(<HitList shelf="s" query={query} hits={[hit]} current={undefined} />);
  const addresses = [...container.querySelectorAll("a")].map((link) => link.getAttribute("href"));
  expect(addresses).toEqual(Array(2).fill("/library/s/a?q=moon&at=70"));
});

test("a text is drawn as elements, and what looks like HTML or a script stays text", () => {
  const blocks: Block[] = [
    { type: "heading", level: 1, offset: 0, children: [{ type: "text", text: "<script>alert(1)</script>" }] },
    {
      type: "paragraph",
      offset: 30,
      children: [
        { type: "text", text: "A moon & " },
        { type: "link", href: "javascript:alert(1)", children: [{ type: "text", text: "bad" }] },
        { type: "link", href: "https://doi.org/10.1/x", children: [{ type: "text", text: "good" }] },
        { type: "figure", alt: "<img src=x>", caption: [{ type: "text", text: "<img src=x>" }], href: null },
      ],
    },
    { type: "code_block", offset: 60, language: "html", text: "<b>code</b>" },
  ];
  const { container } = render(<TextTree blocks={blocks} terms={["moon"]} found={30} />);
  expect(container.querySelector("script, img, b")).toBeNull();
  expect(container.querySelector("h2")?.textContent).toBe("<script>alert(1)</script>");
  const links = [...container.querySelectorAll("a")];
  expect(links.map((link) => [link.href, link.rel])).toEqual([["https://doi.org/10.1/x", "noopener noreferrer"]]);
  expect(container.querySelector(".found mark")?.textContent).toBe("moon");
});

test("the caption of a figure has its formulas", () => {
  const caption: Inline[] = [
    { type: "text", text: "Path in " },
    { type: "math", tex: "C_1", display: false },
  ];
  const { container } = render(<TextTree blocks={[{ type: "figure", offset: 0, alt: "", caption, href: null }]} />);
  expect(container.querySelector(".figure-reference .math")?.textContent).toBe("C_1");
});

test("matched words of a passage are marked", () => {
  const { container } = render(
    <Passage
      nodes={[
        { type: "text", text: "a " },
        { type: "strong", children: [{ type: "text", text: "planet" }] },
      ]}
    />,
  );
  expect(container.innerHTML).toBe("a <mark>planet</mark>");
});

test("lists as deep as a hostile file makes them end somewhere", () => {
  let blocks: Block[] = [{ type: "paragraph", offset: 0, children: [{ type: "text", text: "deep" }] }];
  for (let depth = 0; depth < 500; depth++) blocks = [{ type: "quote", offset: 0, children: blocks }];
  const { container } = render(<TextTree blocks={blocks} />);
  expect(container.querySelectorAll("blockquote").length).toBeLessThan(50);
});

test("the block around a position is found, also in lists and tables", () => {
  const line = (offset: number): Block => ({ type: "paragraph", offset, children: [] });
  const blocks: Block[] = [
    line(0),
    { type: "list", offset: 10, ordered: false, start: 1, items: [[line(10)], [line(20), line(25)]] },
    {
      type: "table",
      offset: 40,
      align: [],
      header: [],
      rows: [
        { offset: 60, cells: [] },
        { offset: 70, cells: [] },
      ],
    },
    line(90),
  ];
  expect([5, 22, 30, 45, 65, 79, 1_000].map((at) => findBlockAt(blocks, at))).toEqual([0, 20, 25, 40, 60, 70, 90]);
  expect(findBlockAt([], 5)).toBeUndefined();
});

test("the words of a query are marked, and not its syntax", () => {
  expect(listTerms('resonant "habitable zone" -gas author:Gillon year:2015.. is:retracted transit* AND x')).toEqual([
    "resonant",
    "habitable zone",
    "Gillon",
    "transit",
  ]);
});

test("bodies that take the same values from a paper are one line", () => {
  const use = (body: string, ...fields: string[]) => ({ universe_id: "u", universe: "U", body, fields });
  const uses = [
    use("b", "mass", "physical.massKg", "kepler.period", "orbitRotX", "semiMajorAxis"),
    use("c", "mass", "kepler.eccentricity"),
    use("star", "physical.luminositySolar", "physical.spinPeriodDays", "physical.teffKelvin"),
  ];
  expect(groupByFields(uses)).toEqual([
    ["mass, orbit", ["b", "c"]],
    ["luminosity, spin period, effective temperature", ["star"]],
  ]);
});

test("every page of a translation can be reached", async () => {
  const page = { nodes: [], offset: 100, end: 200, total_chars: 300, previous_offset: 0, next_offset: 200 };
  const requested: string[] = [];
  vi.stubGlobal("fetch", async (address: string) => {
    requested.push(address);
    return Response.json(page);
  });
  const paper = { paper_id: "mayor1995" } as PaperMetadata;
  const column = render(
    <TranslationColumn shelf="s" paper={paper} lang="de" at={100} terms={[]} addressAt={(offset) => `/at/${offset}`} />,
  );
  expect((await column.findByText(libraryTexts.paper.later)).getAttribute("href")).toBe("/at/200");
  expect(column.getByText(libraryTexts.paper.earlier).getAttribute("href")).toBe("/at/0");
  expect(requested).toEqual(["/api/shelves/s/papers/mayor1995/text?lang=de&offset=100"]);
  vi.unstubAllGlobals();
});

test("a translation into one language is never shown under the name of another, also if that cannot be read", async () => {
  const nodes = [{ type: "paragraph", offset: 0, children: [{ type: "text", text: "Ein Planet" }] }];
  const page = { nodes, offset: 0, end: 10, total_chars: 10, previous_offset: null, next_offset: null };
  vi.stubGlobal("fetch", async (address: string) =>
    address.includes("lang=de")
      ? Response.json(page)
      : Response.json({ error: { code: "text_not_found", message: "There is no such text." } }, { status: 404 }),
  );
  const show = (lang: string) => (
    <TranslationColumn
      shelf="s"
      paper={{ paper_id: "mayor1995" } as PaperMetadata}
      lang={lang}
      at={undefined}
      terms={[]}
      addressAt={String}
    />
  );
  const column = render(show("de"));
  await column.findByText("Ein Planet");
  column.rerender(show("fr"));
  expect(column.queryByText("Ein Planet")).toBeNull();
  await column.findByText("There is no such text.");
  vi.unstubAllGlobals();
});
