import { useState } from "preact/hooks";
import { describeAuthor } from "../common/actor_words.ts";
import { Button, Checkbox, Select, Tag, TextField, type Tone } from "../common/controls.tsx";
import { ConfirmDialog } from "../common/dialog.tsx";
import { EmptyState, Loaded } from "../common/states.tsx";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { When } from "../common/time.tsx";
import { showError } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { UniverseJobFacts } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { navigate, path as page, query } from "../data/router.ts";
import { universeTexts } from "../universes/strings.ts";
import { JobResult } from "./job_result.tsx";
import { jobTexts as texts } from "./strings.ts";

const KINDS = (["nbody", "transits", "rv"] as const).map((value) => ({ value, label: texts.kinds[value] }));
type JobKind = (typeof KINDS)[number]["value"];
const TONES: Record<string, Tone> = { done: "yes", failed: "no", running: "waiting", queued: "waiting" };

interface PlayProps {
  /** The id of the N-body run that is played. */
  played: string | undefined;
  onPlay: (job: UniverseJobFacts) => void;
  onStop: () => void;
}

/** The jobs of a universe: start one, follow its progress, cancel it, and read its answer. */
export function JobPanel(props: PlayProps & { universe: string; version: number | undefined }) {
  const { universe, version, ...play } = props;
  const chosen = query.value.get("job") ?? undefined;
  const jobs = useResource(
    `jobs ${universe}`,
    (signal) =>
      api.get("/api/universes/{universe_id}/jobs", { path: { universe_id: universe }, query: { limit: 50 }, signal }),
    (change) => change.kind === "nbody-job" && (change.universeId === universe || change.universeId === undefined),
  );
  return (
    <section class="panel-section" aria-label={universeTexts.universe.tabs.jobs}>
      <JobForm universe={universe} version={version} onStarted={jobs.reload} />
      <Loaded resource={jobs}>
        {(list) =>
          list.jobs.length ? (
            <ul class="job-list" aria-label={texts.list}>
              {list.jobs.map((job) => (
                <JobItem key={job.id} job={job} isOpen={job.id === chosen} {...play} />
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

function JobForm(props: { universe: string; version: number | undefined; onStarted: () => void }) {
  const [kind, setKind] = useState<JobKind>("nbody");
  const [days, setDays] = useState("365.25");
  const [hasRelativity, setRelativity] = useState(false);
  const problem = Number.isFinite(Number(days)) && days.trim() ? undefined : universeTexts.universe.notNumber;
  const submission = useSubmission({ days: problem });
  async function start(): Promise<void> {
    await api.post("/api/universes/{universe_id}/jobs", {
      path: { universe_id: props.universe },
      body: {
        kind,
        days: Number(days),
        ...(kind === "nbody" && hasRelativity ? { relativity: true } : {}),
        ...(props.version === undefined ? {} : { version: props.version }),
      },
    });
    props.onStarted();
  }
  return (
    <SubmitForm submission={submission} action={texts.start} onSubmit={start}>
      <Select label={texts.kind} value={kind} choices={KINDS} onChange={setKind} />
      <TextField
        label={texts.days}
        value={days}
        onInput={setDays}
        problem={submission.problems.days}
        isMono
        maxLength={20}
      />
      {kind === "nbody" && <Checkbox label={texts.relativity} isChecked={hasRelativity} onChange={setRelativity} />}
    </SubmitForm>
  );
}

function JobItem(props: PlayProps & { job: UniverseJobFacts; isOpen: boolean }) {
  const { job, isOpen, played, onPlay, onStop } = props;
  const [isAsking, setAsking] = useState(false);
  const isActive = job.state === "queued" || job.state === "running";
  const path = { universe_id: job.universeId, job_id: job.id };
  const cancelling = useSubmission({}, showError);
  const cancel = () => api.post("/api/universes/{universe_id}/jobs/{job_id}/cancel", { path });
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
        {texts.about(job.version, describeAuthor(job.author, job.actor))}, <When at={job.createdAt} />
      </p>
      {job.cancelledBy && (
        <p class="quiet small" dir="auto">
          {texts.cancelledBy(describeAuthor(null, job.cancelledBy))}
        </p>
      )}
      {isActive && <progress max={100} value={percent} aria-label={texts.progress(percent)} />}
      {typeof headline === "string" && <p dir="auto">{headline}</p>}
      <div class="tags">
        {job.state === "done" && (
          <Button onClick={open} label={`${isOpen ? texts.close : texts.open}: ${texts.kinds[job.kind]} ${job.id}`}>
            {isOpen ? texts.close : texts.open}
          </Button>
        )}
        {job.state === "done" &&
          job.kind === "nbody" &&
          (job.id === played ? (
            <Button onClick={onStop} label={`${texts.stop}: ${job.id}`}>
              {texts.stop}
            </Button>
          ) : (
            <Button onClick={() => onPlay(job)} label={`${texts.play}: ${job.id}`}>
              {texts.play}
            </Button>
          ))}
        {isActive ? (
          <Button
            kind="danger"
            isBusy={cancelling.busy !== undefined}
            onClick={() => void cancelling.send("submit", cancel)}
          >
            {texts.cancel}
          </Button>
        ) : (
          <Button kind="quiet" label={`${texts.remove}: ${job.id}`} onClick={() => setAsking(true)}>
            {texts.remove}
          </Button>
        )}
      </div>
      {isAsking && (
        <ConfirmDialog
          title={texts.removeTitle}
          text={texts.removeText(texts.kinds[job.kind], texts.span(Number(job.options.days ?? 0)))}
          action={texts.remove}
          onConfirm={() => api.delete("/api/universes/{universe_id}/jobs/{job_id}", { path })}
          onClose={() => setAsking(false)}
        />
      )}
      {isOpen && job.state === "done" && <JobResult job={job} />}
    </li>
  );
}
