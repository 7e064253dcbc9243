import type { Signal } from "@preact/signals";
import { useEffect, useId, useMemo } from "preact/hooks";
import { Loaded } from "../common/states.tsx";
import { attempt } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { UniverseJobFacts } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { query } from "../data/router.ts";
import { usePaletteEntries } from "../frame/palette_entries.ts";
import { JobPanel } from "../jobs/job_panel.tsx";
import { sortByOrbit } from "../sky/bodies.ts";
import type { SkyHandle } from "../sky/sky.tsx";
import type { SkyData } from "../sky/sky_data.ts";
import type { SkyState } from "../sky/sky_state.ts";
import { skyTexts } from "../sky/strings.ts";
import { loadTrajectory, type Trajectory } from "../sky/trajectory.ts";
import { BodyValues } from "./body_values.tsx";
import { makeUniverseEntries } from "./command_entries.ts";
import { CommandPanel, listCommands, useCommands } from "./command_panel.tsx";
import { LogPanel } from "./log_panel.tsx";
import { makePanelState, TABS, type Tab } from "./panel_state.ts";
import { universeTexts } from "./strings.ts";

const texts = universeTexts.universe;

interface SidePanelProps {
  universe: string;
  state: SkyState;
  /** The version that is shown, once it is loaded. */
  data: SkyData | undefined;
  sky: SkyHandle | undefined;
  /** The version to show; undefined is the present one. */
  version: Signal<number | undefined>;
  /** The N-body run that is played while its version is shown. */
  trajectory: Signal<Trajectory | undefined>;
}

/** What is beside the sky: the values of the selected body, the log, commands and jobs. */
export function SidePanel(props: SidePanelProps) {
  const { universe, state, data, version } = props;
  const panel = useMemo(() => makePanelState(query.peek().has("job") ? "jobs" : "body"), []);
  const tab = panel.tab.value;
  const commands = useCommands();
  const facts = useResource(
    `universe facts ${universe}`,
    async (signal) => {
      const path = { universe_id: universe };
      const reply = await api.get("/api/universes/{universe_id}", { path, query: { ids: ["-"] }, signal });
      return reply;
    },
    (change) => change.kind === "universe" && change.subject === universe && !change.deleted,
  );
  useEffect(() => {
    if (data && facts.error.peek()) facts.reload();
  }, [data]);
  const name = useId();
  const shown = data?.elements.version ?? version.value;
  const run = props.trajectory.value;
  usePaletteEntries(() =>
    makeUniverseEntries({
      universe,
      version: shown,
      isPresent: version.peek() === undefined,
      commands: listCommands(commands.value.peek()),
      bodies: data?.cast.bodies ?? [],
      state,
      panel,
    }),
  );
  function setTab(next: Tab): void {
    panel.tab.value = next;
  }
  function play(job: UniverseJobFacts): Promise<boolean> {
    return attempt(async () => {
      const loaded = await loadTrajectory(universe, job.id);
      version.value = job.version === facts.value.peek()?.version ? undefined : job.version;
      props.trajectory.value = loaded;
      state.time.value = loaded.start;
      state.hasTrails.value = true;
      state.isPlaying.value = true;
    });
  }
  function stopPlaying(): void {
    props.trajectory.value = undefined;
    state.isPlaying.value = false;
  }
  if (!data && !facts.value.value && facts.error.value) return null; // the sky shows the same error
  return (
    <Loaded resource={facts}>
      {(found) => (
        <>
          <header>
            <h1 dir="auto">{found.name}</h1>
            <p class="quiet small">
              {data ? texts.facts(data.elements.count, shown ?? found.version, found.version) : ""}
            </p>
          </header>
          <BodyPicker data={data} state={state} onPick={() => setTab("body")} />
          <fieldset class="panel-tabs">
            <legend class="visually-hidden">{texts.panel}</legend>
            {TABS.map((one) => (
              <label key={one} class={one === tab ? "chosen" : ""}>
                <input
                  class="visually-hidden"
                  type="radio"
                  name={name}
                  checked={one === tab}
                  onChange={() => setTab(one)}
                />
                {texts.tabs[one]}
              </label>
            ))}
          </fieldset>
          {tab === "body" && <Selected {...props} version={shown} />}
          {tab === "log" && <LogPanel universe={universe} current={found.version} version={version} />}
          {tab === "commands" && <CommandPanel universe={universe} body={state.selected.value} draft={panel.draft} />}
          {tab === "jobs" && (
            <JobPanel
              universe={universe}
              version={version.value}
              played={run?.version === shown ? run?.job : undefined}
              onPlay={(job) => void play(job)}
              onStop={stopPlaying}
            />
          )}
        </>
      )}
    </Loaded>
  );
}

function BodyPicker(props: { data: SkyData | undefined; state: SkyState; onPick: () => void }) {
  const { data, state, onPick } = props;
  const bodies = useMemo(() => (data ? sortByOrbit(data.elements, data.cast.bodies) : []), [data]);
  const others = (data?.cast.systems ?? []).filter((system) => system.id !== data?.cast.system);
  return (
    <select
      aria-label={texts.findBody}
      value={state.selected.value ?? ""}
      onChange={(event) => {
        state.selected.value = event.currentTarget.value || undefined;
        onPick();
      }}
    >
      <option value="">{texts.findBody}</option>
      {state.selected.value !== undefined && !bodies.some((body) => body.id === state.selected.value) && (
        <option value={state.selected.value}>{state.selected.value}</option>
      )}
      {bodies.map((body) => (
        <option key={body.id} value={body.id}>
          {body.name}
        </option>
      ))}
      {others.length > 0 && (
        <optgroup label={texts.otherSystems}>
          {others.map((system) => (
            <option key={system.id} value={system.id}>
              {system.name}
            </option>
          ))}
        </optgroup>
      )}
    </select>
  );
}

function Selected(props: Omit<SidePanelProps, "version" | "trajectory"> & { version: number | undefined }) {
  const { universe, state, version, sky } = props;
  const body = state.selected.value;
  if (body === undefined) return <p class="quiet">{skyTexts.nothingSelected}</p>;
  if (version === undefined) return null;
  const isFollowed = state.followed.value === body;
  return (
    <BodyValues
      key={body}
      universe={universe}
      body={body}
      version={version}
      isFollowed={isFollowed}
      onFollow={() => sky?.follow(isFollowed ? undefined : body)}
    />
  );
}
