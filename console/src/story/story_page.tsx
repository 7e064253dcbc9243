import { useState } from "preact/hooks";
import { Button, Tag, type Tone } from "../common/controls.tsx";
import { ConfirmDialog } from "../common/dialog.tsx";
import { Panes } from "../common/layout.tsx";
import { Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { StoryState, StoryStep } from "../data/api_types.ts";
import { useKeys } from "../data/keys.ts";
import { type Resource, useResource } from "../data/resource.ts";
import { formatPath, navigate, type Params } from "../data/router.ts";
import { OrbitPicture } from "../universes/orbit_picture.tsx";
import { StepPane } from "./step_pane.tsx";
import { storyTexts as texts } from "./strings.ts";

const ANSWERS = ["compare", "break"];
const TONES: Record<string, Tone> = { done: "yes", next: "accent", running: "waiting", interrupted: "maybe" };

/** The story, step by step: what each step did, and the button that runs the next one. */
export function StoryPage({ params }: { params: Params }) {
  const story = useResource(
    "story",
    (signal) => api.get("/api/story", { signal }),
    (change) => change.kind === "story",
  );
  return <Loaded resource={story}>{(state) => <Story state={state} story={story} chosen={params.step} />}</Loaded>;
}

/** Return the word of a step: one that runs now, or was interrupted, is neither done nor next. */
function describeStatus(state: StoryState, step: StoryStep): string {
  if (state.running === step.id) return "running";
  if (state.interrupted === step.id) return "interrupted";
  return step.status;
}

function Story(props: { state: StoryState; story: Resource<StoryState>; chosen: string | undefined }) {
  const { story, chosen } = props;
  const [sent, setSent] = useState<StoryState["running"]>(null);
  // A step that was sent runs, also in replies that the server gave before it received the step
  const state: StoryState = { ...props.state, running: sent ?? props.state.running };
  const current = chosen ?? state.running ?? state.next ?? state.steps.at(-1)?.id;
  const index = Math.max(
    0,
    state.steps.findIndex((one) => one.id === current),
  );
  const step = state.steps[index];
  const goTo = (place: number) => {
    const there = state.steps[place];
    if (there) navigate(`/story/${there.id}`);
  };
  useKeys(commonTexts.pages.story, [
    { keys: "j", label: texts.keyNext, run: () => goTo(index + 1) },
    { keys: "k", label: texts.keyPrevious, run: () => goTo(index - 1) },
  ]);
  if (!step) return null;
  return (
    <Panes
      listLabel={texts.steps}
      list={<StepList state={state} current={step.id} story={story} />}
      detail={<StepPane key={step.id} {...{ state, step, story, setSent, goTo }} number={index + 1} />}
      context={<Answers state={state} />}
      contextLabel={texts.answer}
      hasDetail={chosen !== undefined}
      backTo="/story"
    />
  );
}

function StepList({ state, current, story }: { state: StoryState; current: string; story: Resource<StoryState> }) {
  return (
    <div class="story-list">
      <header class="story-question">
        <h1>{state.question}</h1>
        <p class="quiet small">{texts.lead(state.steps.length)}</p>
      </header>
      <ol class="story-steps" aria-label={texts.steps}>
        {state.steps.map((step, index) => {
          const status = describeStatus(state, step);
          return (
            <li key={step.id}>
              <a class="row" href={`/story/${step.id}`} aria-current={step.id === current ? "step" : undefined}>
                <span class="row-top">
                  <span class="row-title">
                    <span class="mono quiet">{index + 1}</span> {step.title}
                  </span>
                  {status !== "later" && <Tag tone={TONES[status] ?? "neutral"}>{texts.status[status]}</Tag>}
                </span>
                <span class="row-detail quiet small">{texts.who[step.who]}</span>
              </a>
            </li>
          );
        })}
      </ol>
      <Restart story={story} isDisabled={state.running !== null} />
    </div>
  );
}

/** The sentences that answer the question, as soon as they are computed. */
function Answers({ state }: { state: StoryState }) {
  const answers = state.steps.filter((step) => ANSWERS.includes(step.id) && step.status === "done");
  return (
    <div class="story-answers">
      {state.has_pages && <StoryUniverse state={state} />}
      <h2>{texts.answer}</h2>
      {answers.map((step) => (
        <p key={step.id}>
          <a class="plain-link" href={`/story/${step.id}`}>
            {step.sentence}
          </a>
        </p>
      ))}
      {answers.length === 0 && <p class="quiet">{texts.noAnswer(state.steps.filter(isOpen).length)}</p>}
      {!state.has_pages && <p class="quiet small">{texts.noLinks}</p>}
    </div>
  );
}

/** The universe that the story made last, or else any, moving. One that a running step replaces is not read. */
function StoryUniverse({ state }: { state: StoryState }) {
  const universes = useResource(
    "universes of the story",
    (signal) => api.get("/api/universes", { signal }),
    (change) => {
      if (change.kind !== "universe") return false;
      const listed = universes.value.peek();
      if (change.deleted && listed) {
        universes.set({ ...listed, universes: listed.universes.filter((one) => one.id !== change.subject) });
      }
      return true;
    },
  );
  const links = state.steps.flatMap(listLinkedPaths);
  const all = universes.value.value?.universes ?? [];
  const newest = all.find((one) => links.includes(formatPath("/universes/{id}", { id: one.id }))) ?? all[0];
  if (!newest) return universes.value.value || !links.length ? null : <Placeholder />;
  const path = formatPath("/universes/{id}", { id: newest.id });
  const isReplaced = state.steps.some((step) => step.id === state.running && listLinkedPaths(step).includes(path));
  return (
    <a class="story-universe" href={path}>
      {isReplaced ? (
        <span class="orbit-picture" />
      ) : (
        <OrbitPicture key={newest.id} universe={newest.id} name={newest.name} />
      )}
      <span class="small" dir="auto">
        {newest.name}
      </span>
    </a>
  );
}

/** The space of the picture until it is known which universe it shows. */
function Placeholder() {
  return (
    <span class="story-universe">
      <span class="orbit-picture" />
      <span class="small">{"\u00a0"}</span>
    </span>
  );
}

function listLinkedPaths(step: StoryStep): (string | undefined)[] {
  return step.links.map((link) => link.path.split("?", 1)[0]);
}

function isOpen(step: StoryStep): boolean {
  return step.status !== "done";
}

function Restart({ story, isDisabled }: { story: Resource<StoryState>; isDisabled: boolean }) {
  const [isAsking, setAsking] = useState(false);
  async function restart(): Promise<void> {
    story.set(await api.post("/api/story/restart"));
    navigate("/story");
    showToast(texts.restarted);
  }
  return (
    <footer class="pane-footer">
      <Button kind="quiet" onClick={() => setAsking(true)} isDisabled={isDisabled}>
        {texts.restart}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={texts.restartTitle}
          text={texts.restartText}
          action={texts.restart}
          onConfirm={restart}
          onClose={() => setAsking(false)}
        />
      )}
    </footer>
  );
}
