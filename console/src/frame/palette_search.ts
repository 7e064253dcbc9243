/** What the palette finds on the server: searches, shelves, papers, workflows, runs and universes. */

import { plural } from "../common/wording.ts";
import { api } from "../data/api.ts";
import { formatPath, navigate } from "../data/router.ts";
import { formatWhen, readNow } from "../data/times.ts";
import { describeHit } from "../library/hit_list.tsx";
import { makePaperAddress, NO_QUERY } from "../library/library_query.ts";
import { describeRun } from "../runs/run_words.ts";
import type { PaletteEntry } from "./palette.tsx";
import { frameTexts } from "./strings.ts";

const texts = frameTexts.palette;
const MOST = 5;
const MOST_SHELVES = 5;
const READ = 100;

type Find = (words: string, signal: AbortSignal) => Promise<PaletteEntry[]>;

/** Return whether a text has all words. */
function hasWords(text: string, words: string): boolean {
  const folded = text.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => folded.includes(word));
}

function makeEntry(group: string, key: string, label: string, detail: string, href: string): PaletteEntry {
  return { group, key, label, detail, isForeign: group === texts.papers, run: () => navigate(href) };
}

function describeWhen(at: string): string {
  return formatWhen(Date.parse(at), readNow());
}

const findSearches: Find = async (words, signal) => {
  const page = await api.get("/api/searches", { query: { q: words, limit: MOST }, signal });
  return page.sessions.map((one) =>
    makeEntry(texts.searches, one.session_id, one.query || one.session_id, "", `/searches/${one.session_id}`),
  );
};

const findPapers: Find = async (words, signal) => {
  const { shelves } = await api.get("/api/shelves", { signal });
  const usable = shelves.filter((shelf) => shelf.problem === null && shelf.papers > 0).slice(0, MOST_SHELVES);
  const found = await Promise.all(
    usable.map(async ({ name: shelf }) => {
      const query = { q: words.slice(0, 500), limit: MOST };
      const page = await api.get("/api/shelves/{shelf}/search", { path: { shelf }, query, signal });
      return page.results.map((hit) =>
        makeEntry(
          texts.papers,
          `${shelf} ${hit.paper_id}`,
          hit.title,
          [describeHit(hit), shelf].filter(Boolean).join(" · "),
          makePaperAddress(shelf, hit.paper_id, { ...NO_QUERY, q: words }, hit.offset),
        ),
      );
    }),
  );
  return found.flat();
};

const findShelves: Find = async (words, signal) => {
  const { shelves } = await api.get("/api/shelves", { signal });
  return shelves
    .filter((shelf) => hasWords(shelf.name, words))
    .slice(0, MOST)
    .map((shelf) =>
      makeEntry(
        texts.shelves,
        shelf.name,
        shelf.name,
        plural(shelf.papers, "paper"),
        formatPath("/library/{shelf}", { shelf: shelf.name }),
      ),
    );
};

const findWorkflows: Find = async (words, signal) => {
  const { workflows, drafts } = await api.get("/api/workflows", { signal });
  const names = new Map([...drafts, ...workflows].map((one) => [one.name, one.description]));
  return [...names]
    .filter(([name, description]) => hasWords(`${name} ${description}`, words))
    .slice(0, MOST)
    .map(([name, description]) =>
      makeEntry(texts.workflows, name, name, description, formatPath("/workflows/{name}", { name })),
    );
};

const findRuns: Find = async (words, signal) => {
  const { runs } = await api.get("/api/runs", { query: { limit: READ }, signal });
  return runs
    .filter((run) => hasWords(`${run.workflow} ${run.status} ${run.id}`, words))
    .slice(0, MOST)
    .map((run) =>
      makeEntry(
        texts.runs,
        run.id,
        run.workflow,
        `${describeRun(run).word} · ${describeWhen(run.started_at)}`,
        formatPath("/runs/{id}", { id: run.id }),
      ),
    );
};

const findUniverses: Find = async (words, signal) => {
  const { universes } = await api.get("/api/universes", { query: { limit: READ }, signal });
  return universes
    .filter((one) => hasWords(`${one.name} ${one.id}`, words))
    .slice(0, MOST)
    .map((one) =>
      makeEntry(
        texts.universes,
        one.id,
        one.name,
        describeWhen(one.updatedAt),
        formatPath("/universes/{id}", { id: one.id }),
      ),
    );
};

/** The sources in the order of their results: names before texts. */
const SOURCES: readonly Find[] = [findWorkflows, findShelves, findUniverses, findSearches, findRuns, findPapers];

/** Find everything with these words. `show` is called as often as a source has answered; one that fails finds nothing. */
export async function findAnything(
  words: string,
  signal: AbortSignal,
  show: (entries: PaletteEntry[]) => void,
): Promise<void> {
  const found: PaletteEntry[][] = SOURCES.map(() => []);
  await Promise.all(
    SOURCES.map(async (find, index) => {
      try {
        found[index] = await find(words, signal);
      } catch {
        return;
      }
      if (!signal.aborted) show(found.flat());
    }),
  );
}
