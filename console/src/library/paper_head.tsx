import { useState } from "preact/hooks";
import { Button } from "../common/controls.tsx";
import { checkLink } from "../common/foreign_text.tsx";
import { commonTexts } from "../common/strings.ts";
import type { EditorialNotice, PaperMetadata } from "../data/api_types.ts";
import { formatPath } from "../data/router.ts";
import { libraryTexts } from "./strings.ts";

const texts = libraryTexts.paper;
const SHOWN_AUTHORS = 12;

/** The title of a paper, its notices, all of its authors, and where it appeared. */
export function PaperHead({ shelf, paper, onCite }: { shelf: string; paper: PaperMetadata; onCite: () => void }) {
  return (
    <header class="paper-head">
      {(paper.notices?.length ? paper.notices : paper.retraction ? [paper.retraction] : []).map((notice, index) => (
        <NoticeLine key={index} notice={notice} />
      ))}
      <h1 id="paper-title" class="paper-title foreign" dir="auto">
        {paper.title}
      </h1>
      <Authors shelf={shelf} names={paper.authors} />
      <p class="quiet" dir="auto">
        {describePublication(paper)}
      </p>
      <span class="narrow-only">
        <Button onClick={onCite}>{texts.cite}</Button>
      </span>
    </header>
  );
}

function NoticeLine({ notice }: { notice: EditorialNotice }) {
  const link = checkLink(notice.notice_doi ? `https://doi.org/${notice.notice_doi}` : undefined);
  const isSerious = texts.retractions.includes(notice.status);
  const facts = [notice.label, notice.date, notice.source].filter(Boolean).join(" · ");
  return (
    <p class={isSerious ? "retraction" : "note-box"} dir="auto">
      <strong>{texts.notices[notice.status] ?? notice.status.replaceAll("_", " ")}</strong> {facts}{" "}
      {link && (
        <a href={link} target="_blank" rel="noopener noreferrer">
          {texts.notice}
        </a>
      )}
    </p>
  );
}

function Authors({ shelf, names }: { shelf: string; names: readonly string[] }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = names.length > SHOWN_AUTHORS + 2;
  const shown = isLong && !isWhole ? names.slice(0, SHOWN_AUTHORS) : names;
  if (!names.length) return null;
  const address = formatPath("/library/{shelf}", { shelf });
  return (
    <p class="authors">
      {shown.map((name, index) => (
        <span key={index}>
          {index > 0 && ", "}
          <a href={`${address}?${new URLSearchParams({ author: name })}`} dir="auto">
            {name}
          </a>
        </span>
      ))}
      {isLong && (
        <>
          {" "}
          <button class="link-button" type="button" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? texts.fewerAuthors : commonTexts.authors.more(names.length - shown.length)}
          </button>
        </>
      )}
    </p>
  );
}

/** Return venue, volume, pages, publisher and year in one line. */
function describePublication(paper: PaperMetadata): string {
  const volume = `${paper.volume ?? ""}${paper.issue ? `(${paper.issue})` : ""}`;
  return [paper.venue, volume, paper.pages, paper.publisher, paper.year].filter(Boolean).join(" · ");
}
