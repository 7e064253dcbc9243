import { useRef, useState } from "preact/hooks";
import { Button, Tag, TextField } from "../common/controls.tsx";
import { Detail } from "../common/layout.tsx";
import { EmptyState, ErrorNote, Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { useSubmission } from "../common/submit_form.tsx";
import { Age } from "../common/time.tsx";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { StrategyCheck, StrategyReply } from "../data/api_types.ts";
import { useDraft } from "../data/draft.ts";
import { useKeys } from "../data/keys.ts";
import { type Resource, useResource } from "../data/resource.ts";
import { searchTexts } from "../searches/strings.ts";
import { ConceptCard } from "./concept_card.tsx";
import { CopyPlanDialog } from "./copy_plan_dialog.tsx";
import { useFeedbackDraft } from "./feedback_edit.ts";
import { FeedbackFields } from "./feedback_fields.tsx";
import { useLiveCheck } from "./live_check.ts";
import { type ExpectOwnDecision, useOtherDecider } from "./other_decider.ts";
import { useSteadyFocus } from "./steady_focus.ts";
import { hasField, parseEdit, type StrategyEdit, startEdit, toEditData } from "./strategy_edit.ts";
import { StrategyEditor } from "./strategy_fields.tsx";
import { type Plan, StrategyView } from "./strategy_view.tsx";
import { strategyTexts } from "./strings.ts";
import { UnsentPlan } from "./unsent_plan.tsx";

const texts = strategyTexts.strategy;
const MOST_TITLE_CHARS = 300;

/** Return the number of the round that the plan is for, from 1. `round` counts the rounds that have ended. */
export function getPlanRound(reply: Pick<StrategyReply, "phase" | "round">): number {
  return reply.phase === "completed" ? Math.max(1, reply.round) : reply.round + 1;
}

/** Use the strategy of a session; it is read again when the session or its question changes. */
function useStrategy(sessionId: string): Resource<StrategyReply> {
  return useResource(
    `strategy ${sessionId}`,
    (signal) => api.get("/api/searches/{session_id}/strategy", { path: { session_id: sessionId }, signal }),
    (change) =>
      (change.kind === "session" && change.subject === sessionId) ||
      (change.kind === "inbox" && (change.subject.startsWith(sessionId) || change.about === sessionId)),
  );
}

/** The plan of a search, with its decision if it waits: on its own page and in the inbox. */
export function StrategyForm({ sessionId, onDecided }: { sessionId: string; onDecided?: () => void }) {
  const resource = useStrategy(sessionId);
  const checkpointId = resource.value.value?.checkpoint_id ?? undefined;
  const expectOwnDecision = useOtherDecider(checkpointId);
  const seen = useRef<string[]>([]);
  if (checkpointId && !seen.current.includes(checkpointId)) seen.current.push(checkpointId);
  return (
    <Loaded resource={resource}>
      {(reply) =>
        reply.strategy ? (
          <StrategyDecision
            key={reply.checkpoint_id ?? "used"}
            reply={reply}
            earlierIds={seen.current.filter((one) => one !== reply.checkpoint_id)}
            plan={{ ...reply, strategy: reply.strategy }}
            onDecide={expectOwnDecision}
            onDecided={(isApplied) => {
              resource.reload();
              if (isApplied) onDecided?.();
            }}
          />
        ) : (
          <EmptyState title={texts.none} hint={texts.noneHint} />
        )
      }
    </Loaded>
  );
}

interface DecisionProps {
  reply: StrategyReply;
  /** The questions that this page has shown before. */
  earlierIds: string[];
  plan: Plan;
  onDecide: ExpectOwnDecision;
  onDecided: (isApplied: boolean) => void;
}

function StrategyDecision({ reply, earlierIds, plan, onDecide, onDecided }: DecisionProps) {
  const draft = useDraft(`strategy.${reply.checkpoint_id ?? reply.session_id}`);
  const hint = useDraft(`reject.${reply.checkpoint_id ?? reply.session_id}`);
  const feedback = useFeedbackDraft(reply.checkpoint_id ?? reply.session_id);
  const edit = parseEdit(draft.text.value);
  const [isRejecting, setRejecting] = useState(Boolean(hint.text.value || feedback.data));
  const [isCopying, setCopying] = useState(false);
  const [isDecided, setDecided] = useState(false);
  const { busy, error, send, setError } = useSubmission();
  const isBusy = isDecided || busy !== undefined;
  const readEdit = () => parseEdit(draft.text.peek()) ?? startEdit(reply);
  const setEdit = (next: StrategyEdit) => {
    draft.text.value = JSON.stringify(next);
  };
  const { check, isChecking, isComposing, checkNow, change } = useLiveCheck(reply.session_id, edit, readEdit, setEdit);
  const content = useRef<HTMLDivElement>(null);
  useSteadyFocus(content);

  async function sendDecision(action: "approve" | "edit" | "reject"): Promise<void> {
    if (action === "edit" && !(await checkNow())) return;
    const forget = onDecide();
    const state = await api
      .post("/api/searches/{session_id}/decide", {
        path: { session_id: reply.session_id },
        body: {
          action,
          checkpoint_id: reply.checkpoint_id,
          wait_s: 0,
          ...(action === "edit" ? { data: toEditData(readEdit()) } : {}),
          ...(action === "reject" && feedback.data ? { data: feedback.data } : {}),
          ...(action === "reject" && hint.text.value.trim() ? { note: hint.text.value } : {}),
        },
      })
      .catch((thrown: unknown) => {
        forget();
        throw thrown;
      });
    setDecided(true); // no second decision while the page is read again
    const other = state.already_decided?.same_as_sent === false ? state.already_decided : undefined;
    if (other) showToast(other.message, "no");
    else {
      showToast(texts.sent);
      draft.clear();
      hint.clear();
      feedback.clear();
    }
    onDecided(!other);
  }
  const decide = (action: "approve" | "edit" | "reject") => {
    if (!isDecided) void send("submit", () => sendDecision(action));
  };

  const canDecide = reply.is_pending;
  useKeys(
    texts.keyTitle,
    canDecide && !edit && !isRejecting
      ? [
          { keys: "a", label: texts.approve, run: () => decide("approve") },
          { keys: "e", label: texts.edit, run: () => setEdit(startEdit(reply)) },
          { keys: "r", label: texts.reject, run: () => setRejecting(true) },
        ]
      : [],
  );

  const bar = !canDecide ? undefined : isRejecting ? (
    <form
      class="reject-form"
      onSubmit={(event) => {
        event.preventDefault();
        decide("reject");
      }}
    >
      <TextField
        label={texts.rejectLabel}
        hint={texts.rejectHint}
        value={hint.text.value}
        onInput={(value) => {
          hint.text.value = value;
        }}
        lines={2}
        maxLength={4_000}
        autoFocus
      />
      <FeedbackFields choices={reply.feedback} edit={feedback.edit} onChange={feedback.change} />
      {error && <ErrorNote error={error} />}
      <Button kind="primary" type="submit" isBusy={isBusy}>
        {texts.sendReject}
      </Button>
      <Button onClick={() => setRejecting(false)}>{texts.keepIt}</Button>
    </form>
  ) : edit ? (
    <>
      {error && <ErrorNote error={error} />}
      <Button
        kind="primary"
        onClick={() => decide("edit")}
        isBusy={isBusy}
        isDisabled={!canSend(edit) || (check !== undefined && !check.is_valid)}
      >
        {texts.saveEdit}
      </Button>
      <Button
        onClick={() => {
          draft.clear();
          setError(undefined);
        }}
      >
        {texts.stopEdit}
      </Button>
      <span class="quiet small bar-status" role="status" dir="auto">
        {describeCheck(edit, check, isChecking)}
      </span>
    </>
  ) : (
    <>
      {error && <ErrorNote error={error} />}
      <Button kind="primary" keyHint="a" onClick={() => decide("approve")} isBusy={isBusy}>
        {texts.approve}
      </Button>
      <Button keyHint="e" onClick={() => setEdit(startEdit(reply))}>
        {texts.edit}
      </Button>
      <Button keyHint="r" onClick={() => setRejecting(true)}>
        {texts.reject}
      </Button>
      <span class="quiet small wide-only">{texts.firstWins}</span>
    </>
  );

  return (
    <Detail bar={bar}>
      {earlierIds.map((id) => (
        <UnsentPlan key={id} checkpointId={id} />
      ))}
      <div class="tags">
        <Tag tone={canDecide ? "waiting" : "neutral"}>{commonTexts.pages.plan}</Tag>
        <span class="quiet small">
          {searchTexts.searches.round(getPlanRound(reply))}
          {reply.asked_at && (
            <>
              , <Age at={reply.asked_at} />
            </>
          )}
          {reply.offline && `, ${searchTexts.searches.offline}`}
        </span>
        <Button kind="quiet" icon="copy" onClick={() => setCopying(true)} isDisabled={Boolean(edit)}>
          {strategyTexts.planCopy.open}
        </Button>
      </div>
      {isCopying && <CopyPlanDialog sessionId={reply.session_id} onClose={() => setCopying(false)} />}
      <h1 class="detail-title" dir="auto">
        {clipTitle(reply.question)}
      </h1>
      <p class="quiet">{canDecide ? texts.lead : texts.used}</p>
      <div ref={content} class="search-plan">
        <ConceptCard
          blocks={(canDecide && edit ? edit : plan.strategy).blocks ?? []}
          suggestions={(canDecide && edit ? edit : plan.strategy).suggestions ?? []}
          onChange={canDecide && !isRejecting ? (apply) => change("blocks", apply) : undefined}
        />
        {edit && canDecide ? (
          <StrategyEditor reply={reply} edit={edit} check={check} isComposing={isComposing} onChange={setEdit} />
        ) : (
          <StrategyView plan={plan} />
        )}
      </div>
    </Detail>
  );
}

/** Return false for an edit that no source or no concept is left in. */
function canSend(edit: StrategyEdit): boolean {
  return edit.sources.length > 0 && (!edit.blocks.length || edit.blocks.some((block) => block.active !== false));
}

/** Return what keeps an edit from being sent, in short: the problems of fields are shown at the fields. */
function describeCheck(edit: StrategyEdit, check: StrategyCheck | undefined, isChecking: boolean): string {
  if (!edit.sources.length) return searchTexts.searches.allOff;
  if (!canSend(edit)) return strategyTexts.concepts.noneOn;
  if (!check || check.is_valid) return isChecking ? texts.checking : "";
  const others = check.problems.filter((problem) => !hasField(problem.path));
  return others.map(({ message, hint }) => `${message} ${hint ?? ""}`.trim()).join(" ") || texts.fixFirst;
}

/** Return a question as a title; a strategy of many lines is below in full. */
function clipTitle(question: string): string {
  const characters = [...question];
  return characters.length <= MOST_TITLE_CHARS ? question : `${characters.slice(0, MOST_TITLE_CHARS).join("")}…`;
}
