import { effect, type Signal, useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { address, navigate, type Params, query } from "../data/router.ts";
import { Sky, type SkyHandle } from "../sky/sky.tsx";
import type { SkyData } from "../sky/sky_data.ts";
import { makeSkyState, type SkyState, writeSkyState } from "../sky/sky_state.ts";
import { skyTexts } from "../sky/strings.ts";
import type { Trajectory } from "../sky/trajectory.ts";
import { SidePanel } from "./side_panel.tsx";
import { universeTexts } from "./strings.ts";

const ADDRESS_MS = 400;

/** A universe: the sky, and a panel beside it. The address restores what is seen. */
export function UniversePage({ params }: { params: Params }) {
  const id = params.id ?? "";
  return <UniverseView key={id} id={id} />;
}

function UniverseView({ id }: { id: string }) {
  const state = useMemo(() => makeSkyState(query.peek()), []);
  const data = useSignal<SkyData | undefined>(undefined);
  const sky = useSignal<SkyHandle | undefined>(undefined);
  const version = useSignal(readVersion());
  const trajectory = useSignal<Trajectory | undefined>(undefined);
  const played = useComputed(() => {
    const run = trajectory.value;
    return run?.version === data.value?.elements.version ? run : undefined;
  });
  const other = query.value.get("with");
  useEffect(() => keepAddress(state, version), [state]);
  return (
    <div class={other ? "universe-page compared" : "universe-page"}>
      <Sky
        universe={id}
        state={state}
        version={version}
        trajectory={played}
        onData={(loaded) => {
          data.value = loaded;
        }}
        onReady={(handle) => {
          sky.value = handle;
        }}
      />
      {other && (
        <span class="first-sky-name" dir="auto">
          {data.value?.cast.name}
        </span>
      )}
      {other && <OtherSky key={other} universe={other} state={state} />}
      <aside class="universe-panel" aria-label={skyTexts.panel}>
        <SidePanel
          universe={id}
          state={state}
          data={data.value}
          sky={sky.value}
          version={version}
          trajectory={trajectory}
        />
      </aside>
    </div>
  );
}

function readVersion(): number | undefined {
  const text = query.peek().get("version") ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Another universe beside the first one, at the same time and seen from the same side. */
function OtherSky({ universe, state }: { universe: string; state: SkyState }) {
  const own = useMemo(() => makeSkyState(query.peek()), []);
  const name = useSignal("");
  useEffect(
    () =>
      effect(() => {
        own.isPlaying.value = false;
        own.time.value = state.time.value;
        own.camera.value = state.camera.value;
        own.isLog.value = state.isLog.value;
        own.isReal.value = state.isReal.value;
        own.hasOrbits.value = state.hasOrbits.value;
        own.hasTrails.value = state.hasTrails.value;
        own.hasLabels.value = state.hasLabels.value;
        own.hasZone.value = state.hasZone.value;
        own.selected.value = state.selected.value;
        own.followed.value = state.followed.value;
      }),
    [],
  );
  return (
    <section class="other-sky" aria-label={universeTexts.universe.other}>
      <Sky
        universe={universe}
        state={own}
        hasControls={false}
        onData={(loaded) => {
          name.value = loaded.cast.name;
        }}
      />
      <span class="other-sky-name" dir="auto">
        {name.value}
      </span>
    </section>
  );
}

/** Write what is seen into the address, at most a few times a second. */
function keepAddress(state: SkyState, version: Signal<number | undefined>): () => void {
  const own = location.pathname;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = () => {
    timer = undefined;
    if (location.pathname !== own || state.time.peek() === undefined) return;
    const parameters = new URLSearchParams(address.peek().split("?")[1] ?? "");
    writeSkyState(state, parameters);
    if (version.peek() === undefined) parameters.delete("version");
    else parameters.set("version", String(version.peek()));
    navigate(`${own}?${parameters}`, { replace: true });
  };
  const stop = effect(() => {
    for (const one of [...Object.values(state), version]) void one.value;
    timer ??= setTimeout(write, ADDRESS_MS);
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
