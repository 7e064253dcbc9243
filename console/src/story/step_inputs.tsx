import { Choices, TextField } from "../common/controls.tsx";
import { Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { api } from "../data/api.ts";
import type { FoundPaper, StepInput, StoryState, StoryStep } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { storyTexts as texts } from "./strings.ts";

const LISTS = ["strike", "marks"];
const FACTORS = ["2", "10", "50"];

/** The values that a person chose, numbers as typed; the others keep their defaults. */
export type StepValues = Record<string, unknown>;

/** Return the values to send: typed numbers become numbers, and other text stays for the server to refuse. */
export function readStepValues(values: StepValues): StepValues {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, readNumber(value)]));
}

function readNumber(value: unknown): unknown {
  const isNumber = typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value));
  return isNumber ? Number(value) : value;
}

interface InputsProps {
  /** Lists are beside what they are about; numbers are beside the button. */
  kind: "lists" | "numbers";
  state: StoryState;
  step: StoryStep;
  values: StepValues;
  setValues: (values: StepValues) => void;
}

/** The inputs of a step: a query to strike, marks of papers, a factor, or a number. */
export function StepInputs({ kind, state, step, values, setValues }: InputsProps) {
  const inputs = step.inputs.filter((input) => LISTS.includes(input.name) === (kind === "lists"));
  return (
    <>
      {inputs.map((input) => {
        const set = (value: unknown) => setValues({ ...values, [input.name]: value });
        const shared = { key: input.name, input, value: values[input.name] ?? input.value, set };
        if (input.name === "strike") return <StrikeInput {...shared} state={state} />;
        if (input.name === "marks") return <MarksInput {...shared} />;
        if (input.name === "factor") return <FactorInput {...shared} />;
        return <NumberInput {...shared} />;
      })}
    </>
  );
}

interface InputProps {
  input: StepInput;
  value: unknown;
  set: (value: unknown) => void;
}

/** A number as typed; the server checks it and says what is allowed. */
function NumberInput({ input, value, set }: InputProps) {
  return (
    <div class="story-number">
      <TextField label={input.description} value={String(value)} onInput={set} isMono maxLength={20} />
    </div>
  );
}

function FactorInput({ input, value, set }: InputProps) {
  const choices = FACTORS.map((factor) => ({ value: factor, label: texts.times(Number(factor)) }));
  return (
    <div class="story-factor">
      <Choices label={texts.factor} value={String(value)} choices={choices} onChange={(text) => set(Number(text))} />
      <NumberInput input={{ ...input, description: texts.otherFactor }} value={value} set={set} />
    </div>
  );
}

function StrikeInput({ value, set, state }: InputProps & { state: StoryState }) {
  const queries = state.steps.find((one) => one.id === "ask")?.facts.filter((fact) => /^query \d+$/.test(fact.label));
  return (
    <fieldset class="story-queries">
      <legend>{texts.strike}</legend>
      {queries?.map((fact, index) => (
        <label key={fact.label} class={index + 1 === value ? "struck" : ""}>
          <input type="radio" name="strike" checked={index + 1 === value} onChange={() => set(index + 1)} />
          <span class="mono small" dir="auto">
            {fact.text}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface StoryMark {
  status: string;
  reason?: string;
}

/** The papers with the mark that a program suggests; a person can give each a mark of their own. */
function MarksInput({ value, set }: InputProps) {
  const found = useResource("story papers", (signal) =>
    api.get("/api/story/steps/{step_id}", { path: { step_id: "approve" }, signal }),
  );
  const marks = value as Record<string, StoryMark>;
  return (
    <Loaded resource={found}>
      {(step) => {
        const papers = step.result && "approved" in step.result ? step.result.papers : [];
        const kept = papers.filter((paper) => (marks[paper.id] ?? paper.proposed).status === "include").length;
        return (
          <fieldset class="story-papers">
            <legend>
              {texts.papers}: {texts.paperCount(kept, papers.length)}
            </legend>
            <ul>
              {papers.map((paper) => (
                <PaperMark
                  key={paper.id}
                  paper={paper}
                  mark={marks[paper.id]}
                  onChange={(mark) => set(withMark(marks, paper.id, mark))}
                />
              ))}
            </ul>
          </fieldset>
        );
      }}
    </Loaded>
  );
}

function withMark(
  marks: Record<string, StoryMark>,
  id: string,
  mark: StoryMark | undefined,
): Record<string, StoryMark> {
  const others = Object.fromEntries(Object.entries(marks).filter(([key]) => key !== id));
  return mark ? { ...others, [id]: mark } : others;
}

const VERDICTS = ["include", "maybe", "exclude"] as const;

function PaperMark(props: {
  paper: FoundPaper;
  mark: StoryMark | undefined;
  onChange: (mark: StoryMark | undefined) => void;
}) {
  const { paper, mark, onChange } = props;
  const { status, reason } = paper.proposed;
  return (
    <li>
      <p class="foreign" dir="auto">
        {paper.title} {paper.year !== null && <span class="quiet small">{paper.year}</span>}
      </p>
      <p class="quiet small" dir="auto">
        {texts.suggested(commonTexts.decision[status], reason)}
      </p>
      <div class="story-mark">
        <select
          aria-label={texts.verdict(paper.title)}
          value={mark?.status ?? ""}
          onChange={({ currentTarget: { value } }) => onChange(value ? { ...mark, status: value } : undefined)}
        >
          <option value="">{texts.noVerdict}</option>
          {VERDICTS.map((verdict) => (
            <option key={verdict} value={verdict}>
              {commonTexts.decision[verdict]}
            </option>
          ))}
        </select>
        <input
          type="text"
          aria-label={`${texts.reason}: ${paper.title}`}
          placeholder={texts.reason}
          value={mark?.reason ?? ""}
          maxLength={500}
          disabled={!mark}
          onInput={(event) => mark && onChange({ ...mark, reason: event.currentTarget.value })}
        />
      </div>
    </li>
  );
}
