import { useState } from "preact/hooks";
import { api } from "../api.ts";
import { type ApiError, toApiError } from "../api_error.ts";
import type { UniverseJobFacts } from "../api_types.ts";
import { Button, Checkbox, Select, Tag, TextField, type Tone } from "../components/controls.tsx";
import { EmptyState, ErrorNote, Loaded } from "../components/states.tsx";
import { When } from "../components/time.tsx";
import { showError } from "../components/toasts.tsx";
import { useResource } from "../resource.ts";
import { navigate, path as page, query } from "../router.ts";
import { strings } from "../strings.ts";
import { JobResult } from "./job_result.tsx";

const texts = strings.universe.jobs;
const KINDS = (["nbody", "transits", "rv"] as const).map((value) => ({ value, label: texts.kinds[value] }));
type Kind = (typeof KINDS)[number]["value"];
const TONES: Record<string, Tone> = { done: "yes", failed: "no", running: "waiting", queued: "waiting" };

/** The jobs of a universe: start one, follow its progress, cancel it, and read its answer. */
export function JobPanel(props: {
  universe: string;
  version: number | undefined;
  onPlay: (job: UniverseJobFacts) => void;
}) {
  const { universe, version, onPlay } = props;
  const chosen = query.value.get("job") ?? undefined;
  const jobs = useResource(
    `jobs ${universe}`,
    (signal) =>
      api.get("/api/universes/{universe_id}/jobs", { path: { universe_id: universe }, query: { limit: 50 }, signal }),
    (change) => change.kind === "nbody-job" && (change.universeId === universe || change.universeId === undefined),
  );
  return (
    <section class="panel-section" aria-label={strings.universe.tabs.jobs}>
      <StartForm universe={universe} version={version} onStarted={jobs.reload} />
      <Loaded resource={jobs}>
        {(list) =>
          list.jobs.length ? (
            <ul class="job-list" aria-label={texts.list}>
              {list.jobs.map((job) => (
                <JobItem key={job.id} job={job} isOpen={job.id === chosen} onPlay={onPlay} />
              ))}
            </ul>
          ) : (
            <EmptyState title={texts.empty} hint={texts.emptyHint} />
          )
        }
      </Loaded>
    </section>
  );
}

function StartForm(props: { universe: string; version: number | undefined; onStarted: () => void }) {
  const [kind, setKind] = useState<Kind>("nbody");
  const [days, setDays] = useState("365.25");
  const [hasRelativity, setRelativity] = useState(false);
  const [error, setError] = useState<ApiError>();
  const problem = Number.isFinite(Number(days)) && days.trim() ? undefined : strings.universe.notNumber;
  async function start(): Promise<void> {
    if (problem) return;
    setError(undefined);
    try {
      await api.post("/api/universes/{universe_id}/jobs", {
        path: { universe_id: props.universe },
        body: {
          kind,
          days: Number(days),
          ...(kind === "nbody" && hasRelativity ? { relativity: true } : {}),
          ...(props.version === undefined ? {} : { version: props.version }),
        } as never,
      });
      props.onStarted();
    } catch (thrown) {
      setError(toApiError(thrown));
    }
  }
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}
    >
      <Select label={texts.kind} value={kind} choices={KINDS} onChange={setKind} />
      <TextField label={texts.days} value={days} onInput={setDays} problem={problem} isMono maxLength={20} />
      {kind === "nbody" && <Checkbox label={texts.relativity} isChecked={hasRelativity} onChange={setRelativity} />}
      {error && <ErrorNote error={error} />}
      <div>
        <Button kind="primary" type="submit">
          {texts.start}
        </Button>
      </div>
    </form>
  );
}

function JobItem(props: { job: UniverseJobFacts; isOpen: boolean; onPlay: (job: UniverseJobFacts) => void }) {
  const { job, isOpen, onPlay } = props;
  const isActive = job.state === "queued" || job.state === "running";
  const path = { universe_id: job.universeId, job_id: job.id };
  async function send(run: () => Promise<unknown>): Promise<void> {
    try {
      await run();
    } catch (thrown) {
      showError(toApiError(thrown));
    }
  }
  const open = () => {
    const next = new URLSearchParams(query.peek());
    if (isOpen) next.delete("job");
    else next.set("job", job.id);
    navigate(`${page.peek()}?${next}`, { replace: true });
  };
  const percent = Math.round(job.progress * 100);
  const headline = job.summary?.headline ?? job.error?.message;
  return (
    <li>
      <div class="tags">
        <Tag tone={TONES[job.state] ?? "neutral"}>{texts.states[job.state]}</Tag>
        <strong>{texts.kinds[job.kind]}</strong>
        <span class="mono small">{texts.span(Number(job.options.days ?? 0))}</span>
      </div>
      <p class="quiet small" dir="auto">
        {texts.about(job.version, job.author)}, <When at={job.createdAt} />
      </p>
      {isActive && <progress max={100} value={percent} aria-label={texts.progress(percent)} />}
      {typeof headline === "string" && <p dir="auto">{headline}</p>}
      <div class="tags">
        {job.state === "done" && (
          <Button onClick={open} label={`${isOpen ? texts.close : texts.open}: ${texts.kinds[job.kind]} ${job.id}`}>
            {isOpen ? texts.close : texts.open}
          </Button>
        )}
        {job.state === "done" && job.kind === "nbody" && (
          <Button onClick={() => onPlay(job)} label={`${texts.play}: ${job.id}`}>
            {texts.play}
          </Button>
        )}
        {isActive ? (
          <Button
            kind="danger"
            onClick={() => void send(() => api.post("/api/universes/{universe_id}/jobs/{job_id}/cancel", { path }))}
          >
            {texts.cancel}
          </Button>
        ) : (
          <Button
            kind="quiet"
            label={`${texts.remove}: ${job.id}`}
            onClick={() => void send(() => api.delete("/api/universes/{universe_id}/jobs/{job_id}", { path }))}
          >
            {texts.remove}
          </Button>
        )}
      </div>
      {isOpen && job.state === "done" && <JobResult job={job} />}
    </li>
  );
}
