import type { Signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { Button, ButtonLink, Tag, TextField } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { Detail } from "../common/layout.tsx";
import { EmptyState, ErrorNote, ErrorState, LoadingState } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { useSubmission } from "../common/submit_form.tsx";
import { Age, When } from "../common/time.tsx";
import { showError, showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import { useDraft } from "../data/draft.ts";
import { useKeys } from "../data/keys.ts";
import { useResource } from "../data/resource.ts";
import { formatPath, navigate } from "../data/router.ts";
import { StrategyForm } from "../strategy/strategy_form.tsx";
import { UnsentPlan } from "../strategy/unsent_plan.tsx";
import { type Question, QuestionContents } from "./question_view.tsx";
import { describeAnswer, describeState } from "./question_words.ts";
import { inboxTexts as texts } from "./strings.ts";

/** One question, and the buttons to decide it. `onDecided` is called after a decision of this person. */
export function QuestionPane({ id, me, onDecided }: { id: string; me: string; onDecided: () => void }) {
  const resource = useResource(
    `question ${id}`,
    (signal) => api.get("/api/inbox/{entry_id}", { path: { entry_id: id }, signal }),
    (change) => change.kind === "inbox" && change.subject === id,
  );
  const question = resource.value.value;
  const error = resource.error.value;
  const decision = useDecision(id, { onDecided, set: resource.set, reload: resource.reload });
  if (!question) {
    if (error?.status === 404) return <EmptyState title={texts.gone} hint={commonTexts.errors.notFoundHint} isPage />;
    return error ? <ErrorState error={error} onRetry={resource.reload} /> : <LoadingState />;
  }
  if (question.kind === "strategy_confirmation" && question.state === "pending") {
    const leave = () => {
      resource.reload();
      onDecided();
    };
    return <StrategyForm sessionId={question.subject} onDecided={leave} />;
  }
  return (
    <Detail
      bar={question.state === "pending" ? <DecisionButtons question={question} decision={decision} /> : undefined}
    >
      {error && <ErrorNote error={error} onRetry={resource.reload} />}
      <QuestionHeading question={question} me={me} />
      <QuestionContents question={question} />
      <RejectDialog question={question} decision={decision} me={me} />
    </Detail>
  );
}

/** Return how a question was decided, by whom, where and why, in a sentence. */
export function describeDecision(question: Question, me: string): string {
  return describeAnswer({ ...question, ...question.decision }, me);
}

function QuestionHeading({ question, me }: { question: Question; me: string }) {
  const answered = { ...question, action: question.decision?.action };
  const { tag, tone } = describeState(question.kind, answered);
  const title = question.kind === "approval" ? question.payload.question : question.payload.query;
  return (
    <>
      <p class="tags quiet">
        <Tag tone={tone}>{tag}</Tag>
        <span class="small">
          {question.state === "pending" ? (
            <>
              {texts.waitingFor} <Age at={question.created_at} />
            </>
          ) : (
            question.decided_at && <When at={question.decided_at} />
          )}
        </span>
      </p>
      <h1 class="detail-title" dir="auto">
        {title}
      </h1>
      <div role="status" class="status-slot">
        {question.state === "decided" && (
          <p class="note-box" dir="auto">
            {describeDecision(question, me)}
          </p>
        )}
        {question.state === "withdrawn" && <p class="note-box">{texts.withdrawnNote}</p>}
      </div>
      {question.state === "decided" && question.kind === "strategy_confirmation" && (
        <UnsentPlan checkpointId={question.id} />
      )}
    </>
  );
}

/** What a person does with a question that waits: the request on its way, and the reason of a rejection. */
interface DecisionState {
  busy: "approve" | "reject" | undefined;
  decide: (action: "approve" | "reject", note?: string) => Promise<boolean>;
  isRejecting: boolean;
  setRejecting: (isRejecting: boolean) => void;
  reason: Signal<string>;
}

/** Decide the question of this id. The dialog of a rejection stays open if somebody else decides meanwhile. */
export function useDecision(
  id: string,
  props: { onDecided: () => void; set: (question: Question) => void; reload: () => void },
): DecisionState {
  const { busy, send } = useSubmission<"approve" | "reject">({}, (error) => {
    showError(error);
    props.reload();
  });
  const [isRejecting, setRejecting] = useState(false);
  const reason = useDraft(`reject ${id}`);
  const decide = (action: "approve" | "reject", note?: string) =>
    send(action, async () => {
      const body = note ? { action, note } : { action };
      const decided = await api.post("/api/inbox/{entry_id}/decide", { path: { entry_id: id }, body });
      setRejecting(false);
      props.set(decided);
      reason.clear();
      showToast(texts.decidedHere(texts.actions[action] ?? action));
      props.onDecided();
    });
  return { busy, decide, isRejecting, setRejecting, reason: reason.text };
}

/** The buttons that decide a question; the form of a strategy has its own. */
export function DecisionButtons({ question, decision }: { question: Question; decision: DecisionState }) {
  const { busy, decide, setRejecting } = decision;
  const isSearch = question.kind !== "approval";
  const reviewPath = formatPath("/searches/{id}/review", { id: question.subject });
  const canReview = question.kind === "result_review";

  useKeys(commonTexts.pages.inbox, [
    { keys: "a", label: commonTexts.decision.approve, run: () => void decide("approve") },
    { keys: "r", label: texts.rejectWithHint, run: () => setRejecting(true) },
    ...(canReview ? [{ keys: "o", label: texts.openReview, run: () => navigate(reviewPath) }] : []),
  ]);

  return (
    <>
      {canReview && (
        <ButtonLink href={reviewPath} kind="primary" keyHint="o">
          {texts.openReview}
        </ButtonLink>
      )}
      <Button
        kind={canReview ? "plain" : "primary"}
        keyHint="a"
        isBusy={busy === "approve"}
        onClick={() => void decide("approve")}
      >
        {question.kind === "result_review" ? texts.keepAll : commonTexts.decision.approve}
      </Button>
      <Button keyHint="r" isDisabled={busy !== undefined} onClick={() => setRejecting(true)}>
        {isSearch ? texts.rejectWithHint : commonTexts.decision.reject}
      </Button>
      <span class="quiet small wide-only">{texts.firstWins}</span>
    </>
  );
}

/** The reason of a rejection. If the question is decided elsewhere meanwhile, by whom, and the reason to copy. */
export function RejectDialog({ question, decision, me }: { question: Question; decision: DecisionState; me: string }) {
  const { busy, decide, isRejecting, setRejecting, reason } = decision;
  if (!isRejecting) return null;
  const isSearch = question.kind !== "approval";
  const isPending = question.state === "pending";
  const close = () => setRejecting(false);
  const reject = () => void decide("reject", reason.value.trim());
  return (
    <Dialog
      title={isSearch ? texts.rejectTitle : commonTexts.decision.reject}
      onClose={close}
      footer={
        isPending ? (
          <>
            <Button kind="danger" isBusy={busy === "reject"} onClick={reject}>
              {commonTexts.decision.reject}
            </Button>
            <Button onClick={close}>{commonTexts.actions.cancel}</Button>
          </>
        ) : (
          <Button onClick={close}>{commonTexts.actions.close}</Button>
        )
      }
    >
      <div role="status">
        {!isPending && (
          <p class="note-box" dir="auto">
            {question.state === "decided" ? describeDecision(question, me) : texts.withdrawnNote} {texts.reasonNotSent}
          </p>
        )}
      </div>
      <TextField
        label={isSearch ? texts.rejectHint : texts.rejectReason}
        lines={4}
        maxLength={4_000}
        isReadOnly={!isPending}
        value={reason.value}
        onInput={(value) => {
          reason.value = value;
        }}
        onSubmit={isPending ? reject : undefined}
      />
    </Dialog>
  );
}
