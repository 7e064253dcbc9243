import { useEffect, useState } from "preact/hooks";
import { checkLink } from "../common/foreign_text.tsx";
import { Icon } from "../common/icon.tsx";
import { Panes } from "../common/layout.tsx";
import { Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { api } from "../data/api.ts";
import type { PaperMetadata } from "../data/api_types.ts";
import { useKeys } from "../data/keys.ts";
import { useResource } from "../data/resource.ts";
import { query as addressQuery, formatPath, navigate, type Params } from "../data/router.ts";
import { CiteDialog } from "./cite_dialog.tsx";
import { formatLibraryQuery, makeShelfAddress, readLibraryQuery } from "./library_query.ts";
import { PaperContext } from "./paper_context.tsx";
import { PaperHead } from "./paper_head.tsx";
import { listTerms } from "./query_terms.ts";
import { nameLanguage, SummaryColumn, TextColumn, TranslationColumn } from "./reading.tsx";
import { libraryTexts } from "./strings.ts";

const texts = libraryTexts.paper;

/** A paper of a shelf, to read and to cite. The address holds the position, what is beside, and the search before. */
export function PaperPage({ params }: { params: Params }) {
  const shelf = params.shelf ?? "";
  const id = params.paper ?? "";
  const paper = useResource(
    `paper ${shelf} ${id}`,
    (signal) => api.get("/api/shelves/{shelf}/papers/{paper_id}", { path: { shelf, paper_id: id }, signal }),
    (change) => change.kind === "shelf",
  );
  return <Loaded resource={paper}>{(found) => <PaperView key={found.paper_id} shelf={shelf} paper={found} />}</Loaded>;
}

function PaperView({ shelf, paper }: { shelf: string; paper: PaperMetadata }) {
  const search = readLibraryQuery(addressQuery.value);
  const beside = addressQuery.value.get("beside") ?? "";
  const at = readOffset(addressQuery.value.get("at"));
  const besideAt = readOffset(addressQuery.value.get("beside_at"));
  const [isCiting, setCiting] = useState(false);
  const path = formatPath("/library/{shelf}/{paper}", { shelf, paper: paper.paper_id });
  const makeAddress = (changes: { at?: number; beside?: string; besideAt?: number | undefined }) => {
    const next = { at, beside, besideAt, ...changes };
    const more: Record<string, string> = {};
    if (next.beside) more.beside = next.beside;
    if (next.at !== undefined) more.at = String(next.at);
    if (next.besideAt !== undefined) more.beside_at = String(next.besideAt);
    return path + formatLibraryQuery(search, more);
  };
  const addressAt = (offset: number) => makeAddress({ at: offset });
  const back = makeShelfAddress(shelf, search);
  const link = paper.links.map((one) => checkLink(one.url)).find(Boolean);
  const terms = listTerms(search.q);
  useEffect(() => {
    document.title = `${paper.title.slice(0, 120)} · ${commonTexts.product}`;
  }, [paper.title]);
  useKeys(commonTexts.pages.paper, [
    { keys: "c", label: texts.keys.cite, run: () => setCiting(true) },
    { keys: "o", label: texts.keys.open, run: () => link && open(link, "_blank", "noopener") },
    { keys: "Escape", label: texts.keys.back, run: () => navigate(back) },
  ]);
  const choices = listChoices(paper);
  const chosen = choices.find((one) => one.value === beside);
  return (
    <div class="search-page paper-page">
      <nav class="views" aria-label={texts.views}>
        <a href={back} class="up-link" dir="auto">
          <Icon name="back" />
          {shelf}
        </a>
        {choices.length > 0 && (
          <a href={makeAddress({ beside: "", besideAt: undefined })} aria-current={chosen ? undefined : "page"}>
            {texts.text}
          </a>
        )}
        {choices.map((choice) => (
          <a
            key={choice.value}
            href={makeAddress({ beside: choice.value, besideAt: undefined })}
            aria-current={choice === chosen ? "page" : undefined}
          >
            {choice.label}
          </a>
        ))}
      </nav>
      <Panes
        detail={
          <article class="reader" aria-labelledby="paper-title">
            <PaperHead shelf={shelf} paper={paper} onCite={() => setCiting(true)} />
            <div class={chosen ? "reader-columns has-beside" : "reader-columns"}>
              <TextColumn shelf={shelf} paper={paper} at={at} terms={terms} addressAt={addressAt} />
              {chosen?.kind === "summary" && <SummaryColumn shelf={shelf} paper={paper} template={chosen.name} />}
              {chosen?.kind === "lang" && (
                <TranslationColumn
                  shelf={shelf}
                  paper={paper}
                  lang={chosen.name}
                  at={besideAt}
                  terms={terms}
                  addressAt={(offset) => makeAddress({ besideAt: offset })}
                />
              )}
            </div>
          </article>
        }
        context={<PaperContext shelf={shelf} paper={paper} addressAt={addressAt} onCite={() => setCiting(true)} />}
        contextLabel={texts.about}
      />
      {isCiting && <CiteDialog shelf={shelf} paper={paper} onClose={() => setCiting(false)} />}
    </div>
  );
}

interface ReadingChoice {
  value: string;
  kind: "summary" | "lang";
  name: string;
  label: string;
}

/** Return what can be read beside the text. The default summary only repeats metadata and sentences of the text. */
function listChoices(paper: PaperMetadata): ReadingChoice[] {
  const summaries = paper.available_summary_templates.filter((name) => name !== "default");
  return [
    ...summaries.map((name) => ({
      value: `summary:${name}`,
      kind: "summary" as const,
      name,
      label: texts.summary(name),
    })),
    ...paper.translations.map((name) => ({
      value: `lang:${name}`,
      kind: "lang" as const,
      name,
      label: texts.translation(nameLanguage(name)),
    })),
  ];
}

function readOffset(text: string | null): number | undefined {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
