import { EmptyState, Loaded } from "../common/states.tsx";
import { When } from "../common/time.tsx";
import { api } from "../data/api.ts";
import type { NoteList } from "../data/api_types.ts";
import { type Resource, useResource } from "../data/resource.ts";
import { formatPath } from "../data/router.ts";
import { makePaperAddress } from "./library_query.ts";
import { libraryTexts } from "./strings.ts";

const texts = libraryTexts.library;

/** Return the address of the notes of a shelf; with a name, of the papers of a collection. */
export function makeNotesAddress(shelf: string, collection = ""): string {
  return `${formatPath("/library/{shelf}", { shelf })}?${new URLSearchParams({ notes: collection }).toString()}`;
}

/** Use the notes on papers of a shelf; with `collection`, those of its papers. */
export function useNotes(shelf: string, collection: string): Resource<NoteList> {
  return useResource(
    `notes ${shelf} ${collection}`,
    (signal) =>
      api.get("/api/shelves/{shelf}/notes", { path: { shelf }, query: { collection: collection || null }, signal }),
    (change) => change.kind === "note" || change.kind === "shelf",
  );
}

/** The papers with notes, the last changed first. */
export function NoteListView({ shelf, collection }: { shelf: string; collection: string }) {
  const notes = useNotes(shelf, collection);
  return (
    <Loaded resource={notes}>
      {(found) => (
        <>
          <h2 dir="auto">{collection || texts.notes}</h2>
          {found.papers.length ? (
            <ul class="noted-papers" aria-label={collection || texts.notes}>
              {found.papers.map((paper) => (
                <li key={paper.paper_id}>
                  {paper.title === null ? (
                    <p class="quiet">{texts.paperGone}</p>
                  ) : (
                    <a class="foreign" href={makePaperAddress(shelf, paper.paper_id)} dir="auto">
                      {paper.title}
                    </a>
                  )}
                  {paper.text && (
                    <p class="note-text" dir="auto">
                      {paper.text}
                    </p>
                  )}
                  <p class="quiet small" dir="auto">
                    {[...paper.collections, paper.by].join(" · ")} · <When at={paper.at} />
                  </p>
                </li>
              ))}
            </ul>
          ) : (
            <EmptyState title={texts.noNotes} hint={texts.noNotesHint} />
          )}
          {found.total > found.papers.length && <p class="quiet small">{texts.moreNotes(found.total)}</p>}
        </>
      )}
    </Loaded>
  );
}

/** The collections of a shelf with their numbers of papers; nothing if there are no notes. */
export function CollectionLinks(props: { shelf: string; notes: NoteList; current: string | null }) {
  const { shelf, notes, current } = props;
  if (!notes.total) return null;
  return (
    <nav aria-labelledby="shelf-collections">
      <h2 id="shelf-collections" class="section-title">
        {texts.collections}
      </h2>
      <ul class="link-list">
        <li>
          <a href={makeNotesAddress(shelf)} aria-current={current === "" ? "page" : undefined}>
            {texts.allNotes(notes.total)}
          </a>
        </li>
        {notes.collections.map((one) => (
          <li key={one.name}>
            <a
              href={makeNotesAddress(shelf, one.name)}
              aria-current={current === one.name ? "page" : undefined}
              dir="auto"
            >
              {one.name} <span class="quiet">{one.papers}</span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
