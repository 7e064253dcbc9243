import { useState } from "preact/hooks";
import { Button, Checkbox, Select, Tag, TextField, type Tone } from "../common/controls.tsx";
import { Table } from "../common/layout.tsx";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { api } from "../data/api.ts";
import type { PlannedStep, WorkflowDescription } from "../data/api_types.ts";
import { useDraft } from "../data/draft.ts";
import { formatPath, navigate } from "../data/router.ts";
import { readRefusal } from "../runs/started_run.ts";
import { type InputField, listFields, parseTexts, readInputs, splitSecrets } from "./input_values.ts";
import { workflowTexts as texts } from "./strings.ts";

const LONG = 60;

/** The inputs of a run, made from those that the workflow declares: run it, or see what would happen. */
export function RunForm(props: {
  workflow: WorkflowDescription;
  /** What the inputs are for: what was typed is kept under this key until the run has started. */
  draftKey: string;
  initial?: Record<string, string>;
  /** Inputs that an earlier run had and that are not stored. */
  forgotten?: readonly string[];
}) {
  const { workflow } = props;
  const fields = listFields(workflow.inputs, workflow.template_variables);
  const initial = splitSecrets(fields, props.initial ?? {});
  const draft = useDraft(props.draftKey, JSON.stringify(initial.plain));
  // Secrets are never stored
  const [secrets, setSecrets] = useState(initial.secret);
  const given = { ...parseTexts(draft.text.value), ...secrets };
  const [isFresh, setFresh] = useState(false);
  const [plan, setPlan] = useState<readonly PlannedStep[]>();
  const { values, problems } = readInputs(fields, given);
  const submission = useSubmission<"submit" | "plan">(problems);

  async function makePlan(): Promise<void> {
    const path = { name: workflow.name };
    setPlan((await api.post("/api/workflows/{name}/plan", { path, body: { inputs: values } })).steps);
  }

  async function start(): Promise<void> {
    const started = await api.post("/api/runs", { body: { name: workflow.name, inputs: values, fresh: isFresh } });
    const refusal = readRefusal(started);
    if (refusal) throw refusal;
    if (!started.run_id) return;
    draft.clear();
    navigate(formatPath("/runs/{id}", { id: started.run_id }));
  }

  return (
    <>
      <SubmitForm
        submission={submission}
        class="run-form"
        action={texts.runButton}
        onSubmit={start}
        buttons={
          <Button isBusy={submission.busy === "plan"} onClick={() => void submission.send("plan", makePlan)}>
            {texts.planButton}
          </Button>
        }
      >
        {fields.length === 0 && <p class="quiet">{texts.noInputs}</p>}
        {fields.map((field) => (
          <InputControl
            key={field.name}
            field={field}
            isForgotten={props.forgotten?.includes(field.name) ?? false}
            text={given[field.name] ?? ""}
            problem={submission.problems[field.name]}
            onInput={(text) => {
              const next = splitSecrets(fields, { ...given, [field.name]: text });
              draft.text.value = JSON.stringify(next.plain);
              setSecrets(next.secret);
              setPlan(undefined);
            }}
          />
        ))}
        <Checkbox label={texts.fresh} hint={texts.freshHint} isChecked={isFresh} onChange={setFresh} />
      </SubmitForm>
      {plan && <RunPlan steps={plan} />}
    </>
  );
}

/** The control of an input, by its type. */
export function InputControl(props: {
  field: InputField;
  isForgotten?: boolean;
  text: string;
  problem: string | undefined;
  onInput: (text: string) => void;
}) {
  const { field, text, problem, onInput } = props;
  const hint = [
    props.isForgotten ? texts.forgotten : "",
    field.description,
    texts.typeHint(field.type, field.isRequired),
    field.hasDefault && !field.isSecret ? texts.defaultHint(field.defaultText.slice(0, 100)) : "",
  ]
    .filter(Boolean)
    .join(" · ");
  if (field.type === "boolean") {
    return (
      <div class="field">
        <Select
          label={field.name}
          value={text}
          choices={[
            { value: "", label: field.hasDefault ? texts.defaultChoice(field.defaultText) : texts.notGiven },
            { value: "true", label: texts.yes },
            { value: "false", label: texts.no },
          ]}
          onChange={onInput}
        />
        <p class={problem ? "problem" : "hint"}>{problem ?? hint}</p>
      </div>
    );
  }
  const isStructured = field.type === "object" || field.type === "array";
  const isLong = isStructured || field.defaultText.length > LONG || text.includes("\n");
  return (
    <TextField
      label={field.name}
      value={text}
      onInput={onInput}
      hint={hint}
      problem={problem}
      isMono={field.type !== "string"}
      isSecret={field.isSecret}
      placeholder={field.defaultText.slice(0, 100)}
      {...(isLong && !field.isSecret ? { lines: 4 } : {})}
    />
  );
}

const WILL_TONES: Record<PlannedStep["will"], Tone> = {
  run: "accent",
  ask: "waiting",
  reuse: "yes",
  fail: "no",
  skip: "neutral",
};

function isUncertain(step: PlannedStep): boolean {
  return step.decided_by.length > 0 && step.will !== "skip";
}

/** Return how many nodes would run, and so on. Nodes that depend on a branch are counted apart. */
export function countSteps(steps: readonly PlannedStep[]): string {
  return (["run", "ask", "reuse", "may", "fail", "skip"] as const)
    .map((will) => [will, steps.filter((step) => (isUncertain(step) ? "may" : step.will) === will).length] as const)
    .filter(([, count]) => count)
    .map(([will, count]) => texts.planCount[will](count))
    .join(", ");
}

/** What a run would do, node by node. */
function RunPlan({ steps }: { steps: readonly PlannedStep[] }) {
  return (
    <section class="plan" aria-label={texts.planTitle}>
      <h3>{texts.planTitle}</h3>
      <p class="quiet" role="status">
        {countSteps(steps)}. {texts.planNothing}
      </p>
      <Table
        label={texts.planTitle}
        columns={[{ title: texts.node }, { title: texts.will }, { title: texts.remark }]}
        rows={steps.slice(0, 1_000).map((step) => [
          <span dir="auto">{step.node}</span>,
          <Tag tone={isUncertain(step) ? "neutral" : WILL_TONES[step.will]}>
            {(isUncertain(step) ? texts.mays : texts.wills)[step.will]}
          </Tag>,
          <span dir="auto" class="quiet">
            {describeStep(step)}
          </span>,
        ])}
      />
    </section>
  );
}

/** Return what there is to know about a step besides its node. */
export function describeStep(step: PlannedStep): string {
  const nodes = new Set([...step.decided_by, ...step.waits_for.map((name) => name.replace(/[.[].*$/, ""))]);
  const parts = [
    step.problem ?? "",
    step.will === "ask" ? texts.asksPerson : (texts.effects[step.effect] ?? step.effect),
    step.items == null ? "" : texts.planItems(step.items, step.items_reused ?? 0),
    nodes.size ? texts.dependsOn([...nodes]) : "",
  ];
  return parts.filter(Boolean).join(" ");
}
