import { api } from "../data/api.ts";
import type { TextPage } from "../data/api_types.ts";
import { formatPath } from "../data/router.ts";

/** A publication that a value cites, and where the value stands in it. */
export interface Source {
  id: string;
  title: string;
  authors?: string[];
  year?: number | null;
  /** The authors and the year in short. */
  shortCitation: string;
  venue?: string;
  doi?: string;
  arxiv?: string;
  url?: string;
}

/** Where a value stands in a paper: a row of a table, or a passage. */
export interface Location {
  section?: string;
  table?: string;
  header?: string[];
  row?: string[];
  passage?: string;
}

interface FoundPaper {
  shelf: string;
  paper: string;
}

/** Return the first shelf that holds a publication, and the id of the paper there. */
export async function findOnShelf(source: Source, signal: AbortSignal): Promise<FoundPaper | undefined> {
  const id = source.doi || source.arxiv;
  if (!id) return undefined;
  const { shelves } = await api.get("/api/shelves", { signal });
  const usable = shelves.filter((one) => !one.problem);
  usable.sort((a, b) => Number(a.is_sample) - Number(b.is_sample));
  for (const shelf of usable) {
    const path = { shelf: shelf.name };
    const { paper_ids } = await api.get("/api/shelves/{shelf}/lookup", { path, query: { id }, signal });
    if (paper_ids[0]) return { shelf: shelf.name, paper: paper_ids[0] };
  }
  return undefined;
}

/** Return the address of the paper, at the row or passage of a location if its text has it. */
export async function makePaperAddress(
  found: FoundPaper,
  location: Location | null | undefined,
  signal: AbortSignal,
): Promise<string> {
  const path = formatPath("/library/{shelf}/{paper}", { shelf: found.shelf, paper: found.paper });
  if (!location?.section) return path;
  try {
    const page = await api.get("/api/shelves/{shelf}/papers/{paper_id}/text", {
      path: { shelf: found.shelf, paper_id: found.paper },
      query: { section: location.section },
      signal,
    });
    return `${path}?at=${findOffset(page, location)}`;
  } catch {
    return path; // the paper without its text, or with other sections
  }
}

/** Return the position of the row or passage in the text; else that of its section. */
export function findOffset(page: TextPage, location: Location): number {
  const row = location.row?.map(normalize).join("|");
  const passage = location.passage ? normalize(location.passage) : undefined;
  for (const node of page.nodes) {
    if (node.type === "table" && row !== undefined) {
      const found = node.rows.find((one) => one.cells.map(readText).map(normalize).join("|") === row);
      if (found) return found.offset ?? page.offset;
    } else if (passage !== undefined && normalize(readText(node)).includes(passage)) {
      return node.offset ?? page.offset;
    }
  }
  return page.offset;
}

function normalize(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Return the text of a tree of nodes. */
function readText(node: unknown): string {
  if (typeof node === "string") return node;
  if (Array.isArray(node)) return node.map(readText).join("");
  if (typeof node !== "object" || node === null) return "";
  return Object.entries(node)
    .filter(([key]) => ["text", "children", "content", "nodes", "items", "tex", "value"].includes(key))
    .map(([, value]) => readText(value))
    .join("");
}
