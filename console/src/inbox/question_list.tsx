import { useMemo } from "preact/hooks";
import { removeDirections } from "../common/actor_words.ts";
import { ButtonLink, Tag } from "../common/controls.tsx";
import { ROW_HEIGHT, Row } from "../common/row.tsx";
import { ErrorNote, ErrorState, LoadingState } from "../common/states.tsx";
import { Age, When } from "../common/time.tsx";
import { VirtualList } from "../common/virtual_list.tsx";
import { formatPath } from "../data/router.ts";
import { describeDecider, describeDoor, describeState } from "./question_words.ts";
import { RunningCounts } from "./running_counts.tsx";
import { inboxTexts as texts } from "./strings.ts";
import { decided, type QuestionSummary, waiting, waitingCount } from "./waiting_list.ts";

type Item =
  | { type: "heading"; text: string }
  | { type: "nothing"; text: string }
  | { type: "question"; question: QuestionSummary };

const HEADING_HEIGHT = 48;
const heightOf = (item: Item) => (item.type === "question" ? ROW_HEIGHT : HEADING_HEIGHT);
const keyOf = (item: Item) => (item.type === "question" ? item.question.id : `:${item.text}`);

function loadMore(): void {
  void waiting.loadMore();
  void decided.loadMore();
}

/** What waits, then what was decided; each with who, where and when. */
export function QuestionList({ current, me }: { current: string | undefined; me: string }) {
  const pending = waiting.rows.value;
  const history = decided.rows.value;
  const items = useMemo<Item[]>(() => {
    if (!pending) return [];
    const found: Item[] = pending.map((question) => ({ type: "question", question }));
    found.push({ type: "heading", text: texts.decided });
    for (const question of history ?? []) found.push({ type: "question", question });
    if (history && !history.length) found.push({ type: "nothing", text: texts.nothingDecided });
    return found;
  }, [pending, history]);
  const error = waiting.first.error.value ?? decided.first.error.value;
  const reload = () => {
    waiting.first.reload();
    decided.first.reload();
  };
  return (
    <>
      <h1 class="pane-title">
        {texts.waiting}
        {waitingCount.value > 0 && <Tag tone="waiting">{waitingCount.value.toLocaleString("en-GB")}</Tag>}
      </h1>
      {error && pending && <ErrorNote error={error} onRetry={reload} />}
      {!pending && (error ? <ErrorState error={error} onRetry={reload} /> : <LoadingState />)}
      {pending?.length === 0 && (
        <div class="inbox-empty">
          <p class="quiet">{texts.empty}</p>
          <p class="narrow-only quiet">{texts.emptyHint}</p>
          <p class="narrow-only">
            <ButtonLink href="/searches?new=1">{texts.startSearch}</ButtonLink>
          </p>
        </div>
      )}
      {pending && (
        <VirtualList
          items={items}
          heightOf={heightOf}
          keyOf={keyOf}
          label={texts.list}
          currentKey={current}
          onNearEnd={loadMore}
          render={(item) => <ListItem item={item} current={current} me={me} />}
        />
      )}
      <RunningCounts />
    </>
  );
}

function ListItem({ item, current, me }: { item: Item; current: string | undefined; me: string }) {
  if (item.type === "heading") return <h2 class="list-heading">{item.text}</h2>;
  if (item.type === "nothing") return <p class="list-heading quiet">{item.text}</p>;
  const { question } = item;
  const { tag, tone } = describeState(question.kind, question);
  const at = question.decided_at;
  return (
    <Row
      href={formatPath("/inbox/{id}", { id: question.id })}
      tag={tag}
      tone={tone}
      aside={at ? <When at={at} /> : <Age at={question.created_at} />}
      title={question.title}
      detail={describeDetail(question, me)}
      isCurrent={question.id === current}
    />
  );
}

function describeDetail(question: QuestionSummary, me: string): string {
  if (question.state === "decided") {
    return texts.decidedBy(describeDecider(question, me), describeDoor(question), question.note ?? "");
  }
  if (question.papers != null) return texts.papers(question.papers);
  if (question.workflow) return texts.ofWorkflow(removeDirections(question.workflow));
  return `${texts.ofSearch} ${question.subject.slice(0, 8)}`;
}
