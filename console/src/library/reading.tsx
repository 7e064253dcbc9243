import { useEffect, useRef } from "preact/hooks";
import { ForeignText } from "../common/foreign_text.tsx";
import { loadMath } from "../common/formula.tsx";
import { Loaded } from "../common/states.tsx";
import { findBlockAt, TextTree } from "../common/text_tree.tsx";
import { api } from "../data/api.ts";
import type { PaperMetadata, TextPage } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { libraryTexts } from "./strings.ts";

const texts = libraryTexts.paper;

/** Where to read: the address of another position in the text. */
export type AddressAt = (offset: number) => string;

interface TextProps {
  shelf: string;
  paper: PaperMetadata;
  at: number | undefined;
  terms: readonly string[];
  addressAt: AddressAt;
}

/** The text of a paper, or its abstract and what else the shelf has. */
export function TextColumn(props: TextProps) {
  const { paper } = props;
  return (
    <section class="column" aria-label={texts.text} lang={paper.language || undefined}>
      {paper.abstract && !hasAbstractInText(paper) && (
        <>
          <h2 class="column-title">{texts.abstract}</h2>
          <ForeignText text={paper.abstract} terms={props.terms} />
        </>
      )}
      {paper.has_source ? (
        <>
          <h2 class="column-title">{texts.text}</h2>
          <TextPages {...props} lang={undefined} />
        </>
      ) : (
        <p class="quiet">
          {texts.noText} {texts.noTextHint}
        </p>
      )}
    </section>
  );
}

/** Return whether the text of a paper has its abstract: nobody reads it twice. */
function hasAbstractInText({ has_source, outline }: PaperMetadata): boolean {
  const isFirst = /^(abstract|summary)$/i.test(outline[0]?.title.trim() ?? "");
  return has_source && (isFirst || outline.some(({ title }) => /^abstract$/i.test(title.trim())));
}

/** A translation of a paper, beside its text. */
export function TranslationColumn(props: TextProps & { lang: string }) {
  const { lang } = props;
  return (
    <section class="column" aria-label={texts.translation(nameLanguage(lang))} lang={lang}>
      <h2 class="column-title">{texts.translation(nameLanguage(lang))}</h2>
      <TextPages {...props} />
    </section>
  );
}

function TextPages(props: TextProps & { lang: string | undefined }) {
  const { shelf, paper, at, lang } = props;
  const page = useResource(
    `text ${shelf} ${paper.paper_id} ${lang ?? ""} ${at ?? 0}`,
    async (signal) => {
      const read = await api.get("/api/shelves/{shelf}/papers/{paper_id}/text", {
        path: { shelf, paper_id: paper.paper_id },
        query: { lang: lang ?? null, offset: at ?? 0 },
        signal,
      });
      // The text does not move when its formulas are drawn
      if (JSON.stringify(read.nodes).includes('"tex":')) await loadMath().catch(() => undefined);
      return read;
    },
    (change) => change.kind === "shelf" && change.subject === paper.shelf_path,
    `text ${shelf} ${paper.paper_id} ${lang ?? ""}`,
  );
  return <Loaded resource={page}>{(shown) => <OneTextPage {...props} page={shown} />}</Loaded>;
}

function OneTextPage({ page, at, terms, addressAt }: TextProps & { page: TextPage }) {
  const place = useRef<HTMLDivElement>(null);
  const found = at === undefined ? undefined : findBlockAt(page.nodes, at);
  useEffect(() => {
    if (found !== undefined)
      place.current?.querySelector(`[data-offset="${found}"]`)?.scrollIntoView({ block: "center" });
  }, [found, page.offset]);
  const isWhole = page.previous_offset === null && page.next_offset === null;
  return (
    <div ref={place}>
      <TextTree blocks={page.nodes} terms={terms} level={3} found={found} />
      {!isWhole && (
        <p class="text-pager quiet small">
          <span>{texts.position(page.offset, page.end, page.total_chars)}</span>
          {page.previous_offset !== null && <a href={addressAt(page.previous_offset)}>{texts.earlier}</a>}
          {page.next_offset !== null && <a href={addressAt(page.next_offset)}>{texts.later}</a>}
        </p>
      )}
    </div>
  );
}

/** A summary of a paper, beside its text. */
export function SummaryColumn(props: { shelf: string; paper: PaperMetadata; template: string }) {
  const { shelf, paper, template } = props;
  const summary = useResource(
    `summary ${shelf} ${paper.paper_id} ${template}`,
    (signal) =>
      api.get("/api/shelves/{shelf}/papers/{paper_id}/summary", {
        path: { shelf, paper_id: paper.paper_id },
        query: { template },
        signal,
      }),
    (change) => change.kind === "shelf",
  );
  return (
    <section class="column" aria-label={texts.summary(template)}>
      <h2 class="column-title">{texts.summary(template)}</h2>
      <Loaded resource={summary}>
        {(reply) => (
          <>
            {reply.sections.map((section) => (
              <div key={section.name} class="summary-section">
                <h3>{nameSection(section.name)}</h3>
                <TextTree blocks={section.nodes} level={4} />
              </div>
            ))}
          </>
        )}
      </Loaded>
    </section>
  );
}

function nameSection(name: string): string {
  const words = name.replaceAll("_", " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const languages = new Intl.DisplayNames("en", { type: "language" });

/** Return the English name of a language; the code itself if it is unknown. */
export function nameLanguage(code: string): string {
  try {
    return languages.of(code) ?? code;
  } catch {
    return code;
  }
}
