import { removeDirections } from "../common/actor_words.ts";
import { ForeignText } from "../common/foreign_text.tsx";
import { Card, Table } from "../common/layout.tsx";
import type { ApprovalQuestion, ReviewQuestion, StrategyQuestion } from "../data/api_types.ts";
import { formatRunsAddress } from "../runs/run_list.tsx";
import { makeEarlierPlan, WholeStrategyView } from "../strategy/strategy_view.tsx";
import { inboxTexts as texts } from "./strings.ts";

export type Question = StrategyQuestion | ReviewQuestion | ApprovalQuestion;

/** The contents of a question, in the form of its part. */
export function QuestionContents({ question }: { question: Question }) {
  switch (question.kind) {
    case "strategy_confirmation":
      return <WholeStrategyView plan={makeQuestionPlan(question)} />;
    case "result_review":
      return <ResultReview question={question} />;
    case "approval":
      return <Approval question={question} />;
    default:
      return <Unknown payload={(question as { payload: unknown }).payload} />;
  }
}

function makeQuestionPlan({ payload, decision }: StrategyQuestion) {
  return makeEarlierPlan(payload.strategy, decision?.data ?? {}, payload.source_labels);
}

function ResultReview({ question }: { question: ReviewQuestion }) {
  const { payload } = question;
  return (
    <>
      <p class="quiet">
        {texts.papersFound(payload.total_papers)}
        {question.state === "pending" && ` ${texts.reviewLead(payload.total_papers)}`}
      </p>
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
        {texts.approvalLead(removeDirections(workflow), removeDirections(node))}{" "}
        <a href={formatRunsAddress(workflow, "")}>{texts.showRuns}</a>
      </p>
      {details !== undefined && details !== null && (
        <Card title={texts.details}>
          <div class="card-body keeps-lines">
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
function Json({ value }: { value: unknown }) {
  return (
    <pre class="json" dir="auto">
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
