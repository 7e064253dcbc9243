import { Tag, type Tone } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { Facts, Table } from "../common/layout.tsx";
import { Loaded } from "../common/states.tsx";
import { api } from "../data/api.ts";
import { FileLink, FilePicture } from "../data/api_file.tsx";
import type {
  UniverseJobChart,
  UniverseJobFacts,
  UniverseRunReply,
  UniverseTransitReply,
  UniverseVelocityReply,
} from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { navigate, path as page, query } from "../data/router.ts";
import { jobTexts as texts } from "./strings.ts";
import { TimePlot } from "./time_plot.tsx";
import { TransitTimes } from "./transit_times.tsx";

const BEHAVIOURS: Record<string, Tone> = { librates: "yes", circulates: "neutral", unclear: "maybe" };
const MOST_ROWS = 200;

/** The answer of a job: words, numbers with their errors, and its plot. */
export function JobResult({ job }: { job: UniverseJobFacts }) {
  const path = { universe_id: job.universeId, job_id: job.id };
  const result = useResource(`result ${job.id}`, (signal) =>
    api.get("/api/universes/{universe_id}/jobs/{job_id}/result", { path, signal }),
  );
  const measured = result.value.value;
  const close = () => {
    const next = new URLSearchParams(query.peek());
    next.delete("job");
    navigate(`${page.peek()}?${next}`, { replace: true });
  };
  const chart = useResource(`series ${job.id}`, (signal) =>
    api.get("/api/universes/{universe_id}/jobs/{job_id}/series", { path, signal }),
  );
  const plot = `/api/universes/${encodeURIComponent(job.universeId)}/jobs/${encodeURIComponent(job.id)}/plot`;
  return (
    <Dialog
      title={`${texts.kinds[job.kind]}, ${texts.span(Number(job.options.days ?? 0))}`}
      onClose={close}
      kind="wide"
    >
      <div class="job-result">
        <Loaded resource={result}>
          {(found) => ("verdict" in found ? <NbodyVerdict found={found} /> : <MeasuredAnswer found={found} />)}
        </Loaded>
        {chart.value.value && <JobPlots job={job.id} chart={chart.value.value} />}
        {chart.error.value && (
          <FilePicture
            class="job-plot"
            address={plot}
            alt={texts.plotOf(texts.kinds[job.kind], String(job.summary?.headline ?? ""))}
          />
        )}
        {(chart.error.value || chart.value.value?.panels.length) && (
          <p>
            <FileLink class="button" address={plot} name={`${job.kind}-${job.id}.svg`}>
              {texts.savePlot}
            </FileLink>
          </p>
        )}
        {measured && "verdict" in measured && <NbodyTables found={measured} />}
      </div>
    </Dialog>
  );
}

/** The curves of the answer, and how they were computed, with the error. */
function JobPlots({ job, chart }: { job: string; chart: UniverseJobChart }) {
  return (
    <section class="job-plots" aria-label={texts.plots}>
      {chart.panels.map((panel) => (
        <TimePlot key={panel.title} {...panel} curves={panel.series} syncKey={job} />
      ))}
      <p class="quiet small" dir="auto">
        {chart.footer}
      </p>
    </section>
  );
}

function NbodyVerdict({ found }: { found: UniverseRunReply }) {
  const errors = Object.values(found.error).flatMap((one) => one.degrees ?? []);
  const error = errors.length ? texts.error(Math.max(...errors).toPrecision(2)) : texts.errorUnknown;
  const [outcome, ...more] = splitSentences(found.verdict);
  return (
    <>
      <p class="tags">
        <Tag tone={found.trustworthy ? "yes" : "no"}>
          {found.trustworthy ? texts.trustworthy : texts.notTrustworthy}
        </Tag>{" "}
        <span class="mono small">{error}</span>
      </p>
      <p class="job-outcome" dir="auto">
        {outcome}
      </p>
      {more.length > 0 && <Sentences sentences={more} />}
    </>
  );
}

function Sentences({ sentences }: { sentences: string[] }) {
  return (
    <ul class="job-sentences">
      {sentences.map((sentence) => (
        <li key={sentence} dir="auto">
          {sentence}
        </li>
      ))}
    </ul>
  );
}

/** Return the sentences of a text. A name with a full stop may be split, too; nothing is lost. */
export function splitSentences(text: string): string[] {
  return text.split(/(?<=[.!?])\s+(?=\p{Lu})/u).filter(Boolean);
}

function NbodyTables({ found }: { found: UniverseRunReply }) {
  const resonances = [...found.resonances];
  resonances.sort((one, other) => Number(other.behaviour === "librates") - Number(one.behaviour === "librates"));
  return (
    <>
      <Table
        label={texts.resonances}
        columns={texts.resonanceColumns.map((title, index) => ({ title, isNumber: index > 2 }))}
        rows={resonances.slice(0, MOST_ROWS).map((one) => [
          <span key="bodies" dir="auto">
            {one.bodies.join(", ")}
          </span>,
          `${one.kind} ${one.ratio ?? ""}`,
          <Tag key="behaviour" tone={BEHAVIOURS[one.behaviour] ?? "neutral"}>
            {one.behaviour}
          </Tag>,
          one.centre === null ? "" : texts.degrees(one.centre.toFixed(1)),
          one.halfRange === null ? "" : texts.degrees(one.halfRange.toFixed(1)),
        ])}
      />
      <Table
        label={texts.pairs}
        columns={texts.pairColumns.map((title, index) => ({ title, isNumber: index > 0 }))}
        rows={found.pairs.slice(0, MOST_ROWS).map((pair) => [
          <span key="pair" dir="auto">
            {pair.inner}, {pair.outer}
          </span>,
          pair.periodRatio?.toFixed(4) ?? "",
          pair.closest ? texts.closest(pair.closest.au.toPrecision(4), pair.closest.hillRadii?.toFixed(1) ?? "?") : "",
        ])}
      />
      {Object.entries(found.errors).map(([kind, sentences]) => (
        <section key={kind}>
          <h3>{texts.errorKinds[kind] ?? kind}</h3>
          <Sentences sentences={sentences.flatMap(splitSentences)} />
        </section>
      ))}
    </>
  );
}

function MeasuredAnswer({ found }: { found: UniverseTransitReply | UniverseVelocityReply }) {
  return (
    <>
      {"samples" in found ? (
        <Facts
          facts={[
            [texts.velocities, texts.velocityRange(found.least, found.greatest)],
            ...(found.errorMetresPerSecond === null
              ? []
              : [[texts.velocityError, texts.metres(found.errorMetresPerSecond.toPrecision(2))] as const]),
          ]}
        />
      ) : (
        <TransitTimes planets={found.planets} timeScale={found.timeScale} />
      )}
      {found.notes.map((note) => (
        <p key={note} class="quiet small">
          {note}
        </p>
      ))}
    </>
  );
}
