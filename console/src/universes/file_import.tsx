import { commonTexts } from "../common/strings.ts";
import { api } from "../data/api.ts";
import { formatPath } from "../data/router.ts";
import { universeTexts } from "./strings.ts";

const texts = universeTexts.universes;

/** A row of a file that was left out, and why. */
export interface SkippedRow {
  row: number | null;
  name: string;
  reason: string;
}

/** What became of files: the universes, and what was left out or assumed. */
export interface Imported {
  universes: { id: string; name: string }[];
  skipped: SkippedRow[];
  skippedCount: number;
  notes: string[];
}

/** Create universes from files. A file of an exported universe is its state. */
export async function importFiles(files: readonly File[], name: string, isEach: boolean): Promise<Imported> {
  const content = await Promise.all(files.map((file) => file.text()));
  const state = readExportedState(content);
  if (state) {
    const body = { name: name || files[0]?.name || texts.emptyName, state: state as never };
    const made = await api.post("/api/universes", { body });
    return { universes: [{ id: made.id, name }], skipped: [], skippedCount: 0, notes: [] };
  }
  const reply = await api.post("/api/universes/import", {
    body: {
      content: content.length === 1 ? (content[0] ?? "") : [...content],
      ...(isEach ? { each: true } : {}),
      ...(name ? { name } : {}),
    },
  });
  const { skipped = [], skippedCount = 0, notes = [] } = reply.import ?? {};
  return { universes: reply.universes ?? [], skipped, skippedCount, notes };
}

export function readExportedState(content: readonly string[]): object | undefined {
  if (content.length !== 1) return undefined;
  try {
    const parsed: unknown = JSON.parse(content[0] ?? "");
    if (typeof parsed !== "object" || parsed === null) return undefined;
    const state = "state" in parsed ? parsed.state : parsed;
    return typeof state === "object" && state !== null && "stars" in state ? state : undefined;
  } catch {
    return undefined;
  }
}

/** What an import left out and assumed, with links to what it made. */
export function ImportReport({ imported }: { imported: Imported }) {
  return (
    <div class="import-report">
      <p>{texts.imported(imported.universes.length, imported.skippedCount)}</p>
      <ul aria-label={commonTexts.pages.universes}>
        {imported.universes.map((one) => (
          <li key={one.id}>
            <a href={formatPath("/universes/{id}", { id: one.id })} dir="auto">
              {one.name || one.id}
            </a>
          </li>
        ))}
      </ul>
      <SkippedRows rows={imported.skipped} count={imported.skippedCount} />
      {imported.notes.length > 0 && (
        <>
          <h3>{texts.assumed}</h3>
          <ul class="small">
            {imported.notes.map((note) => (
              <li key={note} dir="auto">
                {note}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

/** The rows that were left out, each with the reason. */
export function SkippedRows({ rows, count }: { rows: readonly SkippedRow[]; count: number }) {
  if (!rows.length) return null;
  return (
    <>
      <h3>{texts.skipped(count)}</h3>
      <ul class="skipped-rows small" aria-label={texts.skipped(count)}>
        {rows.map((one, index) => (
          <li key={index} dir="auto">
            {texts.skippedRow(one.row, one.name, one.reason)}
          </li>
        ))}
        {count > rows.length && <li class="quiet">{texts.moreSkipped(count - rows.length)}</li>}
      </ul>
    </>
  );
}
