import { Button } from "../../components/controls.tsx";
import { useDraft } from "../../draft.ts";
import { strings } from "../../strings.ts";
import { parseEdit } from "./strategy_edit.ts";

const texts = strings.strategy;

/** The queries and the hint that a person typed for a question that somebody else decided, until they are closed. */
export function UnsentPlan({ checkpointId }: { checkpointId: string }) {
  const plan = useDraft(`strategy.${checkpointId}`);
  const hint = useDraft(`reject.${checkpointId}`);
  const queries = parseEdit(plan.text.value)?.queries ?? [];
  const words = hint.text.value.trim();
  if (!queries.length && !words) return null;
  function close(): void {
    plan.clear();
    hint.clear();
  }
  return (
    <section class="note-box" aria-label={texts.notSent}>
      <p>{texts.notSent}</p>
      {words && <p dir="auto">“{words}”</p>}
      {queries.map((query) => (
        <p key={query}>
          <code dir="auto">{query}</code>
        </p>
      ))}
      <Button onClick={close}>{strings.actions.close}</Button>
    </section>
  );
}
