import { Button } from "../common/controls.tsx";
import { commonTexts } from "../common/strings.ts";
import { api } from "../data/api.ts";
import { useDraft } from "../data/draft.ts";
import { useResource } from "../data/resource.ts";
import { readOwnName } from "../data/session.ts";
import { type Answer, describeDecider, describeDoor, isOwn } from "../inbox/question_words.ts";
import { parseEdit, readQueryText, type StrategyEdit } from "./strategy_edit.ts";
import { strategyTexts } from "./strings.ts";

const texts = strategyTexts.strategy;
const LIMITS = ["year_from", "year_to", "max_results", "language"] as const;

/** The edit and the hint that a person typed for a question that was decided elsewhere, until they are closed. */
export function UnsentPlan({ checkpointId }: { checkpointId: string }) {
  const plan = useDraft(`strategy.${checkpointId}`);
  const hint = useDraft(`reject.${checkpointId}`);
  const edit = parseEdit(plan.text.value);
  const words = hint.text.value.trim();
  if (!edit && !words) return null;
  function close(): void {
    plan.clear();
    hint.clear();
  }
  return (
    <section class="note-box" aria-label={texts.notSentLabel}>
      <Reason checkpointId={checkpointId} />
      {words && <p dir="auto">“{words}”</p>}
      {edit && <EditParts edit={edit} />}
      <Button onClick={close}>{commonTexts.actions.close}</Button>
    </section>
  );
}

/** Why the words were not sent: who decided, and where. */
function Reason({ checkpointId }: { checkpointId: string }) {
  const resource = useResource(
    `question ${checkpointId}`,
    (signal) => api.get("/api/inbox/{entry_id}", { path: { entry_id: checkpointId }, signal }),
    (change) => change.kind === "inbox" && change.subject === checkpointId,
  );
  const question = resource.value.value;
  return (
    <p dir="auto">
      {question?.state === "decided" ? describeFirst(question, readOwnName()) : texts.notSent(texts.noLongerWaits)}
    </p>
  );
}

function describeFirst(answer: Answer, me: string): string {
  const isHere = isOwn(answer, me) && answer.door === "console";
  const where = isHere ? texts.otherWindow : describeDoor(answer);
  return texts.notSent(texts.decidedFirst(describeDecider(answer, me), where));
}

function EditParts({ edit }: { edit: StrategyEdit }) {
  return (
    <>
      {edit.queries.map((query, index) => (
        <p key={index}>
          <code dir="auto">{readQueryText(query)}</code>
        </p>
      ))}
      <p>
        <span class="quiet small">{texts.parts.sources}</span> {edit.sources.join(", ")}
      </p>
      {LIMITS.map((name) => (
        <p key={name}>
          <span class="quiet small">{texts.parts[name]}</span> <span dir="auto">{edit[name] || texts.noLimit}</span>
        </p>
      ))}
    </>
  );
}
