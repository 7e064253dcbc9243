import { Tag } from "../common/controls.tsx";
import { commonTexts } from "../common/strings.ts";
import { Passage } from "../common/text_tree.tsx";
import type { PaperHit } from "../data/api_types.ts";
import { type LibraryQuery, makePaperAddress } from "./library_query.ts";
import { libraryTexts } from "./strings.ts";

const texts = libraryTexts.library;
const SHOWN_AUTHORS = 4;

/** Return the authors, the venue and the year of a paper in one line. */
export function describeHit(hit: Pick<PaperHit, "authors" | "venue" | "year">): string {
  const names = hit.authors.slice(0, SHOWN_AUTHORS).join(", ");
  const people = hit.authors.length > SHOWN_AUTHORS ? commonTexts.authors.andOthers(names) : names;
  return [people, hit.venue, hit.year].filter(Boolean).join(" · ");
}

/** Return whether the passage of a paper is only its title: nothing else is known of it. */
function isTitle(hit: Pick<PaperHit, "title" | "snippet_markdown">): boolean {
  return hit.snippet_markdown.replaceAll("**", "") === hit.title;
}

/** The papers found, each with the passage that matches best. */
export function HitList(props: {
  shelf: string;
  query: LibraryQuery;
  hits: readonly PaperHit[];
  current: number | undefined;
}) {
  return (
    <ol class="hits" aria-label={texts.found}>
      {props.hits.map((hit, index) => (
        <li key={hit.paper_id} class={index === props.current ? "hit current" : "hit"}>
          <h2 class="hit-title foreign" dir="auto">
            <a href={makePaperAddress(props.shelf, hit.paper_id, props.query, hit.offset)}>{hit.title}</a>
          </h2>
          <p class="quiet small" dir="auto">
            {hit.retracted && <Tag tone="no">{texts.retracted}</Tag>} {describeHit(hit)}
          </p>
          {hit.snippet.length > 0 && !isTitle(hit) && (
            <p class="hit-passage foreign" dir="auto">
              <Passage nodes={hit.snippet} />
            </p>
          )}
          {hit.section && (
            <p class="small">
              <a href={makePaperAddress(props.shelf, hit.paper_id, props.query, hit.offset)} dir="auto">
                {texts.section(hit.section)}
              </a>
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}
