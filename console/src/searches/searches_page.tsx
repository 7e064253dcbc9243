import { useRef, useState } from "preact/hooks";
import { describeActor } from "../common/actor_words.ts";
import { Button, Select, Tag } from "../common/controls.tsx";
import { ConfirmDialog } from "../common/dialog.tsx";
import { PlainPage } from "../common/layout.tsx";
import { EmptyState, Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { Age } from "../common/time.tsx";
import { attempt, showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { SearchSummary } from "../data/api_types.ts";
import { makeListKeys, useKeys } from "../data/keys.ts";
import { useResource } from "../data/resource.ts";
import { navigate, query } from "../data/router.ts";
import { useSettled } from "../data/settled.ts";
import { describePhase, SourceLine } from "./search_tags.tsx";
import { StartDialog } from "./start_dialog.tsx";
import { searchTexts } from "./strings.ts";

const PAGE = 50;
const texts = searchTexts.searches;
const PHASES = (["all", "waiting", "working", "completed", "failed"] as const).map((value) => ({
  value,
  label: texts.phases[value],
}));

/** All searches: start, find, open, resume and delete them. The address holds the filter. */
export function SearchesPage() {
  const phase = PHASES.find(({ value }) => value === query.value.get("phase"))?.value ?? "all";
  const words = query.value.get("q") ?? "";
  const settledWords = useSettled(words);
  const [limit, setLimit] = useState(PAGE);
  const [toDelete, setToDelete] = useState<SearchSummary>();
  const isStarting = query.value.has("new");
  const find = useRef<HTMLInputElement>(null);
  const searches = useResource(
    `searches ${phase} ${settledWords} ${limit}`,
    async (signal) => {
      const given = { phase: phase === "all" ? null : phase, q: settledWords, limit };
      const page = await api.get("/api/searches", { query: given, signal });
      return { ...page, isFiltered: given.phase !== null || settledWords !== "" };
    },
    (change) => ["session", "inbox"].includes(change.kind),
    "searches", // the list stays while another one is read
  );
  const page = searches.value.value;
  const isEmpty = page !== undefined && !page.sessions.length && !page.isFiltered;
  const setQuery = (changes: Record<string, string>) => navigate(formatQuery(phase, words, changes), { replace: true });
  useKeys(commonTexts.pages.searches, [
    { keys: texts.startKey, label: texts.start, run: () => setQuery({ new: "1" }) },
    { keys: "/", label: texts.find, run: () => find.current?.focus() },
    ...makeListKeys(".search-item-title a"),
  ]);

  return (
    <PlainPage title={commonTexts.pages.searches}>
      {!isEmpty && (
        <div class="toolbar">
          <Button kind="primary" icon="plus" keyHint={texts.startKey} onClick={() => setQuery({ new: "1" })}>
            {texts.start}
          </Button>
          <search class="toolbar-find">
            <input
              ref={find}
              type="search"
              aria-label={texts.findHint}
              placeholder={texts.findHint}
              value={words}
              onInput={(event) => setQuery({ q: event.currentTarget.value })}
            />
          </search>
          <Select label={texts.phase} value={phase} choices={PHASES} onChange={(value) => setQuery({ phase: value })} />
        </div>
      )}
      <Loaded resource={searches}>
        {(page) =>
          page.sessions.length ? (
            <>
              <ul class="sheet-list" aria-label={commonTexts.pages.searches}>
                {page.sessions.map((search) => (
                  <SearchItem key={search.session_id} search={search} onDelete={() => setToDelete(search)} />
                ))}
              </ul>
              {page.next_offset !== null && (
                <Button onClick={() => setLimit(limit + PAGE)}>
                  {`${texts.more} (${texts.shown(page.sessions.length, page.total)})`}
                </Button>
              )}
            </>
          ) : page.isFiltered ? (
            <EmptyState title={texts.nothingFound} hint={texts.nothingFoundHint} />
          ) : (
            <EmptyState title={texts.empty} hint={texts.emptyHint} command={texts.command}>
              <Button kind="primary" icon="plus" onClick={() => setQuery({ new: "1" })}>
                {texts.start}
              </Button>
            </EmptyState>
          )
        }
      </Loaded>
      {isStarting && <StartDialog onClose={() => navigate(formatQuery(phase, words, {}), { replace: true })} />}
      {toDelete && (
        <ConfirmDialog
          title={texts.removeTitle}
          text={texts.removeText(toDelete.query || toDelete.session_id)}
          action={texts.remove}
          onConfirm={async () => {
            await api.delete("/api/searches/{session_id}", { path: { session_id: toDelete.session_id } });
            showToast(texts.removed);
            searches.reload();
          }}
          onClose={() => setToDelete(undefined)}
        />
      )}
    </PlainPage>
  );
}

function formatQuery(phase: string, words: string, changes: Record<string, string>): string {
  const next = new URLSearchParams();
  for (const [name, value] of Object.entries({ phase, q: words, ...changes })) {
    if (value && value !== "all") next.set(name, value);
  }
  const text = next.toString();
  return text ? `/searches?${text}` : "/searches";
}

function SearchItem({ search, onDelete }: { search: SearchSummary; onDelete: () => void }) {
  const { word, tone } = describePhase(search);
  const facts = [
    search.round ? texts.round(search.round) : "",
    search.paper_count === null || search.paper_count === undefined ? "" : texts.papers(search.paper_count),
    search.offline ? texts.offline : "",
    commonTexts.actors.startedBy(describeActor(search.actor)),
  ].filter(Boolean);
  return (
    <li class="search-item">
      <div class="search-item-top">
        <Tag tone={tone}>{word}</Tag>
        <span class="quiet small">
          <Age at={search.last_used_at} />
        </span>
      </div>
      <h2 class="search-item-title">
        <a href={`/searches/${search.session_id}`} dir="auto">
          {search.query || search.session_id}
        </a>
      </h2>
      {search.error && (
        <p class="problem small" dir="auto">
          {search.error}
        </p>
      )}
      <div class="search-item-bottom">
        <span class="quiet small">{facts.join(", ")}</span>
        <SourceLine sources={search.sources ?? []} />
        <span class="search-item-actions">
          {search.phase === "working" && (
            <Button
              kind="quiet"
              label={`${texts.resume}: ${search.query}`}
              onClick={() => void resume(search.session_id)}
            >
              {texts.resume}
            </Button>
          )}
          <Button kind="quiet" label={`${texts.remove}: ${search.query}`} onClick={onDelete}>
            {texts.remove}
          </Button>
        </span>
      </div>
    </li>
  );
}

function resume(sessionId: string): Promise<boolean> {
  return attempt(async () => {
    await api.post("/api/searches/{session_id}/resume", { path: { session_id: sessionId } });
    showToast(texts.resumed);
  });
}
