import type { ComponentChildren } from "preact";
import type { ApprovalQuestion, ReviewQuestion, StrategyQuestion } from "../api_types.ts";
import { ForeignText } from "../components/foreign_text.tsx";
import { Card, Facts, Table } from "../components/layout.tsx";
import { strings } from "../strings.ts";

export type Question = StrategyQuestion | ReviewQuestion | ApprovalQuestion;
const texts = strings.inbox;

/** The contents of a question, in the form of its part. */
export function QuestionContents({ question }: { question: Question }) {
  switch (question.kind) {
    case "strategy_confirmation":
      return <Strategy question={question} />;
    case "result_review":
      return <Review question={question} />;
    case "approval":
      return <Approval question={question} />;
    default:
      return <Unknown payload={(question as { payload: unknown }).payload} />;
  }
}

function Strategy({ question }: { question: StrategyQuestion }) {
  const { strategy } = question.payload;
  const filters = Object.entries(strategy.filters ?? {}).filter(([, value]) => value !== null && String(value) !== "");
  const inherited = (strategy.origins ?? []).filter((one) => one.inherited);
  return (
    <>
      <p class="quiet">{texts.strategyLead}</p>
      <Card title={texts.queries} aside={strategy.queries.length}>
        <Table
          label={texts.queries}
          columns={[{ title: texts.query }, { title: texts.keywords }]}
          rows={strategy.queries.map((query) => [
            <code dir="auto">{query.boolean_query}</code>,
            <span class="quiet" dir="auto">
              {query.keywords.join(", ")}
            </span>,
          ])}
        />
      </Card>
      <Card title={texts.where}>
        <div class="card-body">
          <Facts
            facts={[
              [texts.sources, strategy.sources.length ? strategy.sources.join(", ") : texts.allSources],
              ...filters.map(([name, value]): [string, ComponentChildren] => [texts.filter(name), formatValue(value)]),
            ]}
          />
        </div>
      </Card>
      {inherited.length > 0 && (
        <Card title={texts.inherited}>
          <div class="card-body">
            <Facts
              facts={inherited.map((one): [string, ComponentChildren] => [one.part, `${one.value} (${one.reason})`])}
            />
          </div>
        </Card>
      )}
    </>
  );
}

function Review({ question }: { question: ReviewQuestion }) {
  const { payload } = question;
  return (
    <>
      <p class="quiet">{texts.reviewLead(payload.total_papers)}</p>
      <Card title={texts.best} aside={texts.firstOf(payload.papers.length, payload.total_papers)}>
        <Table
          label={texts.best}
          columns={[
            { title: texts.paper },
            { title: texts.year, isNumber: true },
            { title: texts.rank, isNumber: true },
          ]}
          rows={payload.papers.map((paper) => [
            <span class="foreign" dir="auto">
              {paper.title}
            </span>,
            paper.year ?? "",
            paper.relevance_score.toFixed(2),
          ])}
        />
      </Card>
    </>
  );
}

function Approval({ question }: { question: ApprovalQuestion }) {
  const { details, workflow, node } = question.payload;
  return (
    <>
      <p class="quiet" dir="auto">
        {texts.approvalLead(workflow, node)}
      </p>
      {details !== undefined && details !== null && (
        <Card title={texts.details}>
          <div class="card-body">
            {typeof details === "string" ? <ForeignText text={details} /> : <Json value={details} />}
          </div>
        </Card>
      )}
    </>
  );
}

function Unknown({ payload }: { payload: unknown }) {
  return (
    <Card title={texts.details}>
      <div class="card-body">
        <Json value={payload} />
      </div>
    </Card>
  );
}

/** Any JSON, indented. */
export function Json({ value }: { value: unknown }) {
  return (
    <pre class="json" dir="auto">
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(String).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
