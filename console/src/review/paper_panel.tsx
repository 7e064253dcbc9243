import { useState } from "preact/hooks";
import { Tag } from "../common/controls.tsx";
import { checkLink } from "../common/foreign_text.tsx";
import { commonTexts } from "../common/strings.ts";
import type { PaperDetails, PaperRow } from "../data/api_types.ts";
import { PaperText } from "./paper_text.tsx";
import { Provenance } from "./provenance.tsx";
import { reviewTexts } from "./strings.ts";

const texts = reviewTexts.review;
const SHOWN_AUTHORS = 12;

/** One paper to read. What the list knows is shown at once; the rest follows without moving it. */
export function PaperPanel(props: {
  row: PaperRow;
  paper: PaperDetails | undefined;
  total: number;
  labelSource: (source: string) => string;
  onSplit: ((record: string) => void) | undefined;
}) {
  const { row, paper, total, labelSource } = props;
  return (
    <article class="paper" aria-labelledby="paper-title">
      <div class="tags">
        <Tag>{texts.position(row.rank, total)}</Tag>
        <Tag>{texts.score(row.relevance_score.toFixed(2))}</Tag>
        {row.sources.map((source) => (
          <Tag key={source} tone="accent">
            {labelSource(source)}
          </Tag>
        ))}
        {row.year_unknown_kept && <Tag>{texts.yearUnknown}</Tag>}
        {row.sources.length > 1 && <Tag>{texts.samePaper(row.sources.length)}</Tag>}
        {row.found_in_round > 0 && <Tag>{texts.foundInRound(row.found_in_round + 1)}</Tag>}
      </div>
      <RetractionNote row={row} paper={paper} />
      <h1 id="paper-title" class="paper-title foreign" dir="auto">
        {paper ? <PaperText nodes={paper.title_tree} /> : row.title}
      </h1>
      <Citation key={row.id} row={row} paper={paper} />
      <OtherVerdicts row={row} />
      {paper && (
        <>
          {paper.abstract_tree.length ? (
            <div class="foreign prose" dir="auto">
              <PaperText nodes={paper.abstract_tree} />
            </div>
          ) : (
            <p class="quiet">{texts.noAbstract}</p>
          )}
          <ShortenedNote paper={paper} />
          {paper.relevance_reason && (
            <p class="quiet small" dir="auto">
              {texts.whyRanked}: {paper.relevance_reason}
            </p>
          )}
          <Provenance paper={paper} labelSource={labelSource} onSplit={props.onSplit} />
        </>
      )}
    </article>
  );
}

function RetractionNote({ row, paper }: { row: PaperRow; paper: PaperDetails | undefined }) {
  if (!row.retraction && !row.editorial_note) return null;
  const link = checkLink(row.retraction?.notice_doi ? `https://doi.org/${row.retraction.notice_doi}` : undefined);
  return (
    <p class="retraction" dir="auto">
      <strong>{row.retraction ? row.retraction.status.replaceAll("_", " ") : texts.concern}</strong>{" "}
      {row.editorial_note}
      {link && (
        <>
          {" "}
          <a href={link} target="_blank" rel="noopener noreferrer">
            {texts.notice}
          </a>
        </>
      )}
      {paper && paper.notices.length > 1 && ` (${paper.notices.length})`}
    </p>
  );
}

function Citation({ row, paper }: { row: PaperRow; paper: PaperDetails | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const names = paper ? paper.authors : row.authors;
  const shown = isWhole ? names : names.slice(0, SHOWN_AUTHORS);
  const link = checkLink(paper?.url ?? undefined);
  const pages = paper?.pages ? `, ${paper.pages}` : "";
  // All names are not known yet: what follows them would move
  if (!paper) return <p class="citation quiet">{shown.join(", ")}</p>;
  return (
    <p class="citation quiet">
      <span dir="auto">{shown.join(", ")}</span>
      {row.author_count > shown.length && (
        <>
          {" "}
          <button class="link-button" type="button" onClick={() => setWhole(true)}>
            {commonTexts.authors.more(row.author_count - shown.length)}
          </button>
        </>
      )}
      {shown.length > 0 && ". "}
      {row.venue && <i dir="auto">{row.venue}</i>}
      {paper.volume && ` ${paper.volume}`}
      {pages}
      {row.venue && ", "}
      {row.year}
      {row.doi && (
        <>
          {". "}
          {link ? (
            <a href={link} target="_blank" rel="noopener noreferrer" class="mono">
              {row.doi}
            </a>
          ) : (
            <span class="mono">{row.doi}</span>
          )}
        </>
      )}
    </p>
  );
}

/** The verdicts of other reviewers, as far as they may be seen. */
function OtherVerdicts({ row }: { row: PaperRow }) {
  if (row.others_hidden) return <p class="quiet small">{texts.hidden(row.others_hidden)}</p>;
  if (!row.others.length) return null;
  return (
    <div class="tags">
      <span class="quiet small">{texts.reviewers}</span>
      {row.others.map((other) => (
        <Tag key={other.reviewer} tone={toneOf(other.status)}>
          {texts.verdictOf(other.reviewer, commonTexts.decision[other.status])}
          {other.reason ? ` (${other.reason})` : ""}
        </Tag>
      ))}
      {row.differs && <strong class="small">{texts.differs}</strong>}
    </div>
  );
}

export function toneOf(status: PaperRow["status"]) {
  return ({ include: "yes", maybe: "maybe", exclude: "no", undecided: "neutral" } as const)[status];
}

function ShortenedNote({ paper }: { paper: PaperDetails }) {
  const shown = paper.abstract_tree.reduce((total, node) => total + node.text.length, 0);
  if (paper.abstract_chars <= 20_000) return null;
  return <p class="quiet small">{texts.shortened(shown, paper.abstract_chars)}</p>;
}
