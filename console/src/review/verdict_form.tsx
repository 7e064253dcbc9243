import { useState } from "preact/hooks";
import { Button, Key } from "../common/controls.tsx";
import { commonTexts } from "../common/strings.ts";
import type { PaperRow } from "../data/api_types.ts";
import type { ReviewStore } from "./review_store.ts";
import { reviewTexts } from "./strings.ts";
import { ReasonChips, type Verdict, VerdictRadios } from "./verdict.tsx";

const texts = reviewTexts.review;

/** A verdict that is chosen and not saved yet. */
export interface VerdictDraft {
  verdict: Verdict | undefined;
  reason: string;
}

/** Return the draft that shows the saved verdict of a paper. */
export function draftOf(row: PaperRow | undefined): VerdictDraft {
  return { verdict: row && row.status !== "undecided" ? row.status : undefined, reason: row?.reason ?? "" };
}

/** The verdict about the paper, or about all selected papers. It never moves with the length of the text above. */
export function VerdictForm(props: {
  store: ReviewStore;
  draft: VerdictDraft;
  reasons: readonly string[];
  selectedCount: number | undefined;
  url: string | undefined;
  onDraft: (draft: VerdictDraft) => void;
  onSave: () => void;
  onUndo: () => void;
}) {
  const { store, draft, reasons, selectedCount } = props;
  const counts = store.counts.value;
  const decided = counts.include + counts.maybe + counts.exclude;
  const unsent = store.unsent.count.value;
  const isKnown = reasons.includes(draft.reason);
  // Words that begin as a known reason does stay in the field while they are typed
  const [typedReason, setTypedReason] = useState<string>();
  return (
    <form
      class="verdict-form"
      onSubmit={(event) => {
        event.preventDefault();
        props.onSave();
      }}
    >
      <VerdictRadios value={draft.verdict} onChange={(verdict) => props.onDraft({ ...draft, verdict })} />
      {draft.verdict === "exclude" && (
        <div class="reason-line">
          <ReasonChips
            reasons={reasons}
            chosen={isKnown ? draft.reason : undefined}
            onChange={(reason) => props.onDraft({ ...draft, reason: reason ?? "" })}
          />
          <input
            type="text"
            class="other-reason"
            aria-label={texts.otherReason}
            placeholder={texts.otherReason}
            maxLength={500}
            value={isKnown && draft.reason !== typedReason ? "" : draft.reason}
            onInput={(event) => {
              setTypedReason(event.currentTarget.value);
              props.onDraft({ ...draft, reason: event.currentTarget.value });
            }}
            onBlur={() => setTypedReason(undefined)}
          />
        </div>
      )}
      <div class="verdict-actions">
        <Button
          kind="primary"
          type="submit"
          keyHint={commonTexts.keys.names.Enter}
          isDisabled={!draft.verdict || selectedCount === 0}
        >
          {selectedCount === undefined ? texts.saveNext : texts.saveSelected(selectedCount)}
        </Button>
        <Button keyHint="u" onClick={props.onUndo}>
          {texts.undo}
        </Button>
        {/* The link keeps its place while the paper is loaded: the bar must not move. */}
        <a
          class="button quiet"
          style={{ visibility: props.url ? "visible" : "hidden" }}
          href={props.url ?? "#"}
          target="_blank"
          rel="noopener noreferrer"
          aria-keyshortcuts="o"
        >
          <span>{texts.openPaper}</span>
          <span class="key-hint" aria-hidden="true">
            <Key>O</Key>
          </span>
        </a>
        <span class={unsent ? "verdict-count problem small" : "verdict-count quiet small"} role="status">
          {unsent ? texts.unsaved(unsent) : texts.decided(decided, counts.undecided)}
        </span>
      </div>
    </form>
  );
}
