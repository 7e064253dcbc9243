import { useEffect } from "preact/hooks";
import { ButtonLink } from "../common/controls.tsx";
import { Panes } from "../common/layout.tsx";
import { EmptyState } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { useKeys } from "../data/keys.ts";
import { formatPath, navigate, type Params } from "../data/router.ts";
import { readOwnName } from "../data/session.ts";
import { QuestionList } from "./question_list.tsx";
import { QuestionPane } from "./question_pane.tsx";
import { inboxTexts as texts } from "./strings.ts";
import { decided, waiting } from "./waiting_list.ts";

const WIDE = "(min-width: 761px)";

function openQuestion(id: string, replace = false): void {
  navigate(formatPath("/inbox/{id}", { id }), { replace });
}

/** Everything that waits for a decision, and what was decided. */
export function InboxPage({ params }: { params: Params }) {
  const id = params.id;
  const me = readOwnName();
  useEffect(() => decided.first.start(), []);

  const pending = waiting.rows.value;
  const first = pending?.[0]?.id;
  useEffect(() => {
    // A wide screen shows the first question at once. Later changes of the list do not move the reader.
    if (id === undefined && first !== undefined && matchMedia(WIDE).matches) openQuestion(first, true);
  }, [id, first]);

  function move(step: number): void {
    const all = [...(waiting.rows.peek() ?? []), ...(decided.rows.peek() ?? [])];
    const index = all.findIndex((one) => one.id === id);
    const next = all[index < 0 ? 0 : index + step];
    if (next) openQuestion(next.id, true);
  }
  /** Go to the question that waits next; stay at the decided one if it was the last. */
  function moveOn(): void {
    const all = waiting.rows.peek() ?? [];
    const index = all.findIndex((one) => one.id === id);
    const next = all[index + 1] ?? all.find((one) => one.id !== id);
    if (next && next.id !== id) openQuestion(next.id, true);
  }
  useKeys(texts.list, [
    { keys: "j", label: texts.next, run: () => move(1) },
    { keys: "k", label: texts.previous, run: () => move(-1) },
    { keys: "ArrowDown", label: texts.next, run: () => move(1), isHidden: true },
    { keys: "ArrowUp", label: texts.previous, run: () => move(-1), isHidden: true },
    { keys: "Escape", label: commonTexts.actions.back, run: () => navigate("/inbox") },
  ]);

  return (
    <Panes
      list={<QuestionList current={id} me={me} />}
      listLabel={texts.list}
      hasDetail={id !== undefined}
      backTo="/inbox"
      detail={
        id === undefined ? (
          pending && (
            <EmptyState title={pending.length ? texts.choose : texts.empty} hint={texts.emptyHint}>
              <ButtonLink href="/searches?new=1">{texts.startSearch}</ButtonLink>
            </EmptyState>
          )
        ) : (
          <QuestionPane key={id} id={id} me={me} onDecided={moveOn} />
        )
      }
    />
  );
}
