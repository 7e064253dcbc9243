import { useState } from "preact/hooks";
import { Button, ButtonLink, Tag } from "../common/controls.tsx";
import { Detail } from "../common/layout.tsx";
import { ErrorNote, markCode } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { useSubmission } from "../common/submit_form.tsx";
import { When } from "../common/time.tsx";
import { api } from "../data/api.ts";
import { FileLink, FilePicture } from "../data/api_file.tsx";
import type { StoryState, StoryStep } from "../data/api_types.ts";
import { useKeys } from "../data/keys.ts";
import type { Resource } from "../data/resource.ts";
import { navigate } from "../data/router.ts";
import { MassTable } from "./mass_table.tsx";
import { readStepValues, StepInputs, type StepValues } from "./step_inputs.tsx";
import { storyTexts as texts } from "./strings.ts";

interface StepProps {
  state: StoryState;
  step: StoryStep;
  number: number;
  story: Resource<StoryState>;
  /** Called with a step when it is sent to the server, and with null after the reply. */
  setSent: (step: StoryState["running"]) => void;
  goTo: (index: number) => void;
}

/** One step: its sentence, what came of it, and the bar with which it is run. */
export function StepPane(props: StepProps) {
  const { state, step, number, story, setSent, goTo } = props;
  const [values, setValues] = useState<StepValues>({});
  const { error, send } = useSubmission();
  const isRunning = state.running === step.id;
  const isBlocked = state.running !== null;

  async function runStep(): Promise<void> {
    setSent(step.id);
    navigate(`/story/${step.id}`, { replace: true }); // the step stays in view when it is done
    try {
      const body = { inputs: readStepValues(values) };
      story.set(await api.post("/api/story/steps/{step_id}", { path: { step_id: step.id }, body }));
    } finally {
      setSent(null);
      story.reload();
    }
  }
  const run = () => {
    if (step.can_run && state.running === null) void send("submit", runStep);
  };
  const isDone = step.status === "done";
  const advance = () => (isDone ? goTo(number) : run());
  useKeys(commonTexts.pages.story, [{ keys: "Enter", label: texts.keyRun, run: advance }]);
  const stored = state.error?.step === step.id && !isRunning && !error ? state.error : undefined;
  return (
    <Detail
      bar={
        <StepBar
          {...props}
          isRunning={isRunning}
          isBlocked={isBlocked}
          onRun={run}
          values={values}
          setValues={setValues}
        />
      }
    >
      <div class="tags">
        <Tag>{texts.step(number, state.steps.length)}</Tag>
        <Tag tone="accent">{texts.who[step.who]}</Tag>
        {step.by && step.ended_at && (
          <span class="quiet small" dir="auto">
            {texts.by(step.by)}, <When at={step.ended_at} />
          </span>
        )}
      </div>
      <h1 class="story-title">{step.title}</h1>
      <p class="story-sentence" aria-live="polite">
        {step.status === "later" ? describeLater(state) : step.sentence}
      </p>
      {state.interrupted === step.id && <p class="note-box">{texts.interrupted}</p>}
      {error && <ErrorNote error={error} />}
      {stored && (
        <p class="note no" role="alert">
          <strong>{stored.message}</strong> {markCode(stored.hint)}
        </p>
      )}
      {step.can_run && !isRunning && (
        <StepInputs kind="lists" state={state} step={step} values={values} setValues={setValues} />
      )}
      <StepResult {...props} />
    </Detail>
  );
}

function describeLater(state: StoryState): string {
  return texts.later(state.steps.find((one) => one.status === "next")?.title ?? "");
}

function StepResult({ state, step }: StepProps) {
  const links = state.has_pages ? step.links : [];
  return (
    <>
      {links.length > 0 && (
        <p class="tags">
          <span class="quiet small">{texts.look}</span>
          {links.map((link) => (
            <ButtonLink key={link.path} href={link.path}>
              {link.label}
            </ButtonLink>
          ))}
        </p>
      )}
      {step.id === "build" && step.status === "done" && <MassTable endedAt={step.ended_at ?? ""} />}
      {step.facts.length > 0 && !isShownOtherwise(step) && (
        <dl class="story-facts">
          {step.facts.map((fact, index) => (
            <div key={`${fact.label} ${index}`}>
              <dt>{fact.label}</dt>
              <dd dir="auto">{fact.text}</dd>
            </div>
          ))}
        </dl>
      )}
      {step.id === "export" && step.status === "done" && (
        <p>
          <FileLink class="button" address="/api/story/files/bundle.zip" name="trappist-1-story.zip">
            {texts.bundle}
          </FileLink>
        </p>
      )}
      <StepPictures key={step.ended_at} step={step} />
    </>
  );
}

/** Whether another list of the pane has the facts of the step: the masses, or the papers that wait for marks. */
function isShownOtherwise(step: StoryStep): boolean {
  return step.status === "done" ? step.id === "build" : step.id === "review";
}

/** The pictures of a step, each after the one above it: the size of a picture is known when it has arrived. */
function StepPictures({ step }: { step: StoryStep }) {
  const [loaded, setLoaded] = useState(0);
  return step.pictures.slice(0, loaded + 1).map((picture, index) => (
    <figure key={picture} class="story-plot">
      <FileLink address={`/api/story/files/${picture}`} name={picture} title={texts.savePicture}>
        <FilePicture
          address={`/api/story/files/${picture}`}
          alt={`${texts.picture(step.title, index + 1)}: ${step.sentence}`}
          onSettled={() => setLoaded(index + 1)}
        />
      </FileLink>
    </figure>
  ));
}

interface BarProps extends StepProps {
  isRunning: boolean;
  isBlocked: boolean;
  onRun: () => void;
  values: StepValues;
  setValues: (values: StepValues) => void;
}

function StepBar(props: BarProps) {
  const { state, step, number, goTo, isRunning, isBlocked, onRun, values, setValues } = props;
  if (isRunning) return <Running state={state} />;
  const isDone = step.status === "done";
  const isLast = number === state.steps.length;
  return (
    <form
      class="story-bar"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
    >
      {step.can_run && <StepInputs kind="numbers" state={state} step={step} values={values} setValues={setValues} />}
      <div class="story-buttons">
        {isDone && !isLast && (
          <Button kind="primary" keyHint={commonTexts.keys.names.Enter} onClick={() => goTo(number)}>
            {texts.next}
          </Button>
        )}
        {step.can_run && (
          <Button
            kind={isDone ? "plain" : "primary"}
            keyHint={isDone ? undefined : commonTexts.keys.names.Enter}
            type="submit"
            isDisabled={isBlocked}
          >
            {isDone ? texts.runAgain : step.action}
          </Button>
        )}
        {isDone && step.can_run && !isLast && <span class="quiet small">{texts.runAgainHint}</span>}
        {step.status === "later" && <p class="quiet">{describeLater(state)}</p>}
      </div>
    </form>
  );
}

function Running({ state }: { state: StoryState }) {
  const percent = Math.round((state.progress ?? 0) * 100);
  return (
    <div class="story-running" role="status">
      <p>
        {texts.running} {state.progress ? texts.progress(percent) : ""} <span class="quiet">{texts.runningLeave}</span>
      </p>
      {state.progress ? (
        <progress max={100} value={percent} aria-label={texts.running} />
      ) : (
        <progress aria-label={texts.running} />
      )}
    </div>
  );
}
