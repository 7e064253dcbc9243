import { useComputed } from "@preact/signals";
import { useRef } from "preact/hooks";
import { Button } from "../common/controls.tsx";
import { saveFile } from "../common/save_file.ts";
import { showToast } from "../common/toasts.tsx";
import { useKeys } from "../data/keys.ts";
import type { Cast } from "./bodies.ts";
import type { SkyRunner } from "./drawing/runner.ts";
import { ScaleBar } from "./scale_bar.tsx";
import type { FoundZone } from "./sky_data.ts";
import type { SkyState } from "./sky_state.ts";
import { skyTexts as texts } from "./strings.ts";
import { coversTime, type Trajectory } from "./trajectory.ts";

const TURN_STEP = 0.12;
const ZOOM_STEP = 1.25;

interface ControlsProps {
  runner: SkyRunner;
  state: SkyState;
  cast: Cast;
  zone: FoundZone | undefined;
}

/** Choose what is drawn and how. The keys do the same. */
export function Controls({ runner, state, cast, zone }: ControlsProps) {
  const details = useRef<HTMLDetailsElement>(null);

  function move(step: number): void {
    const ids = cast.bodies.map((body) => body.id);
    const at = ids.indexOf(state.selected.peek() ?? "");
    const next = ids[(at + step + ids.length) % ids.length];
    if (next !== undefined) state.selected.value = next;
  }
  function toggleFollow(): void {
    const id = state.selected.peek();
    state.followed.value = state.followed.peek() === id ? undefined : id;
  }
  function clear(): void {
    if (details.current?.open) details.current.open = false;
    else if (state.followed.peek() !== undefined) state.followed.value = undefined;
    else state.selected.value = undefined;
  }
  async function save(make: () => Promise<Blob | null>, ending: string, done: string, failed: string): Promise<void> {
    const file = await tryToMake(make);
    if (!file) {
      showToast(failed, "no");
      return;
    }
    saveFile(file, `${cast.name.replace(/[^\p{L}\p{N}-]+/gu, "-") || "universe"}.${ending}`);
    showToast(done);
  }
  useKeys(texts.keyTitle, [
    {
      keys: " ",
      label: texts.keys.play,
      run: () => {
        state.isPlaying.value = !state.isPlaying.peek();
      },
    },
    { keys: "ArrowLeft", label: texts.keys.left, run: () => runner.turn(-TURN_STEP, 0) },
    { keys: "ArrowRight", label: texts.keys.right, run: () => runner.turn(TURN_STEP, 0) },
    { keys: "ArrowUp", label: texts.keys.up, run: () => runner.turn(0, TURN_STEP) },
    { keys: "ArrowDown", label: texts.keys.down, run: () => runner.turn(0, -TURN_STEP) },
    { keys: "+", label: texts.keys.closer, run: () => runner.zoom(1 / ZOOM_STEP) },
    { keys: "=", label: texts.keys.closer, run: () => runner.zoom(1 / ZOOM_STEP), isHidden: true },
    { keys: "-", label: texts.keys.farther, run: () => runner.zoom(ZOOM_STEP) },
    { keys: "n", label: texts.keys.next, run: () => move(1) },
    { keys: "p", label: texts.keys.previous, run: () => move(-1) },
    { keys: "f", label: texts.keys.follow, run: toggleFollow },
    { keys: "Escape", label: texts.keys.clear, run: clear },
    { keys: "t", label: texts.keys.top, run: () => runner.showTop() },
    { keys: "h", label: texts.keys.all, run: () => runner.showAll() },
    {
      keys: "l",
      label: texts.keys.log,
      run: () => {
        state.isLog.value = !state.isLog.peek();
      },
    },
  ]);

  const isLog = state.isLog.value ?? false;
  const isReal = state.isReal.value && !isLog;
  return (
    <div class="sky-tools">
      <Button kind="quiet" onClick={() => runner.showAll()}>
        {texts.all}
      </Button>
      <Button kind="quiet" onClick={() => runner.showTop()}>
        {texts.top}
      </Button>
      <details ref={details} class="sky-options">
        <summary class="button quiet">{texts.options}</summary>
        <div class="sky-menu">
          <Toggle
            label={texts.optionLog}
            isOn={isLog}
            onChange={(on) => {
              state.isLog.value = on;
            }}
          />
          <Toggle
            label={texts.optionReal}
            isOn={isReal}
            isDisabled={isLog}
            onChange={(on) => {
              state.isReal.value = on;
            }}
          />
          <Toggle
            label={texts.optionOrbits}
            isOn={state.hasOrbits.value}
            onChange={(on) => {
              state.hasOrbits.value = on;
            }}
          />
          <Toggle
            label={texts.optionTrails}
            isOn={state.hasTrails.value}
            onChange={(on) => {
              state.hasTrails.value = on;
            }}
          />
          <Toggle
            label={texts.optionLabels}
            isOn={state.hasLabels.value}
            onChange={(on) => {
              state.hasLabels.value = on;
            }}
          />
          {zone && (
            <Toggle
              label={texts.optionZone}
              isOn={state.hasZone.value}
              onChange={(on) => {
                state.hasZone.value = on;
              }}
            />
          )}
          <Button onClick={() => void save(() => runner.screenshot(), "png", texts.saved, texts.notSaved)}>
            {texts.save}
          </Button>
          <Button onClick={() => void save(() => runner.makeModel(), "glb", texts.savedModel, texts.notSavedModel)}>
            {texts.saveModel}
          </Button>
        </div>
      </details>
    </div>
  );
}

/** Return the file; null if there is no memory, no WebGL, or the code that makes it cannot be loaded. */
async function tryToMake(make: () => Promise<Blob | null>): Promise<Blob | null> {
  try {
    return await make();
  } catch {
    return null;
  }
}

/** What is drawn and how, in words. */
export function SkyFacts(props: ControlsProps & { trajectory: Trajectory | undefined }) {
  const { runner, state, cast, zone, trajectory } = props;
  const isLog = state.isLog.value ?? false;
  const followed = cast.bodies.find((body) => body.id === state.followed.value);
  return (
    <p class="sky-facts">
      {followed && (
        <span>
          {texts.following} <span dir="auto">{followed.name}</span>
        </span>
      )}
      {cast.system !== undefined && <span>{texts.oneOfSystems(cast.systems.length)}</span>}
      {trajectory && <PlayedRun trajectory={trajectory} state={state} />}
      <span>{state.isReal.value && !isLog ? texts.realSizes : texts.readableSizes}</span>
      {isLog ? <span>{texts.logRadius}</span> : <ScaleBar scale={runner.scale} isAstronomical={cast.isAstronomical} />}
      {zone && runner.zoneStrength.value > 0.3 && (
        <span title={zone.note}>{zone.note ? texts.zoneOf(zone.temperature) : texts.zone}</span>
      )}
    </p>
  );
}

/** What moves the bodies now: the run with its error, or their orbits before and after it. */
function PlayedRun({ trajectory, state }: { trajectory: Trajectory; state: SkyState }) {
  const isCovered = useComputed(() => coversTime(trajectory, state.time.value ?? 0)).value;
  return <span>{isCovered ? texts.playedRun(trajectory.errorDegrees) : texts.outsideRun}</span>;
}

function Toggle(props: { label: string; isOn: boolean; isDisabled?: boolean; onChange: (on: boolean) => void }) {
  return (
    <label class="sky-toggle">
      <input
        type="checkbox"
        checked={props.isOn}
        disabled={props.isDisabled}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <span>{props.label}</span>
    </label>
  );
}
