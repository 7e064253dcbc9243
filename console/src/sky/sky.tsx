import { effect, type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { EmptyState, ErrorState, LoadingState } from "../common/states.tsx";
import { type ApiError, toApiError } from "../data/api_error.ts";
import { listenForChanges, retryWhenLive } from "../data/live.ts";
import type { SkyRunner } from "./drawing/runner.ts";
import { getFlags, NO_POSITION } from "./elements.ts";
import { Controls, SkyFacts } from "./picture_controls.tsx";
import { usePointer } from "./pointer.ts";
import { PositionsTable } from "./positions_table.tsx";
import { type FoundZone, loadSky, loadZone, type SkyData } from "./sky_data.ts";
import type { SkyState } from "./sky_state.ts";
import { skyTexts as texts } from "./strings.ts";
import { TimeBar } from "./time_bar.tsx";
import type { Trajectory } from "./trajectory.ts";

/** What others can do with a sky that is drawn. */
export interface SkyHandle {
  /** Keep a body in the middle; undefined shows the whole universe. */
  follow(id: string | undefined): void;
  /** Return the picture as a PNG, or null if the browser draws none. */
  screenshot(): Promise<Blob | null>;
}

interface SkyProps {
  universe: string;
  state: SkyState;
  /** Show this version instead of the present one. */
  version?: ReadonlySignal<number | undefined>;
  /** Move bodies as this N-body run computed it, with its error on the screen. */
  trajectory?: ReadonlySignal<Trajectory | undefined>;
  /** False: without keys, options and a time bar, for a sky that another one leads. */
  hasControls?: boolean;
  onSelect?: (id: string) => void;
  onReady?: (handle: SkyHandle) => void;
  /** Called with every version that is shown. */
  onData?: (data: SkyData) => void;
}

/** A universe in three dimensions, with its time bar. It follows the changes of the universe. */
export function Sky(props: SkyProps) {
  const { universe, state, hasControls = true } = props;
  const data = useSignal<SkyData | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const retries = useSignal(0);
  const runner = useSignal<SkyRunner | undefined>(undefined);
  const cannotDraw = useSignal(false);
  const zone = useSignal<FoundZone | undefined>(undefined);
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const labels = useRef<HTMLDivElement>(null);
  const ring = useRef<HTMLSpanElement>(null);
  const system = useRef<string | undefined>(undefined);
  const select = useRef<(id: string) => void>(() => undefined);
  select.current = (id) => {
    state.selected.value = id;
    props.onSelect?.(id);
  };

  useEffect(
    () => followUniverse(universe, props.version, state.selected, retries, data, error),
    [universe, props.version],
  );

  useEffect(() => {
    let isGone = false;
    let made: SkyRunner | undefined;
    const start = async () => {
      const { SkyRunner } = await import("./drawing/runner.ts");
      if (isGone || !host.current || !canvas.current || !labels.current || !ring.current) return;
      try {
        const parts = { canvas: canvas.current, labels: labels.current, ring: ring.current };
        made = new SkyRunner(host.current, parts, state, (id) => select.current(id));
      } catch {
        cannotDraw.value = true;
        return;
      }
      runner.value = made;
      Object.assign(host.current, { sky: made }); // for tests and benchmarks
      props.onReady?.({
        follow: (id) => {
          state.followed.value = id;
        },
        screenshot: () => made?.screenshot() ?? Promise.resolve(null),
      });
    };
    start().catch(() => {
      cannotDraw.value = true;
    });
    return () => {
      isGone = true;
      made?.dispose();
      runner.value = undefined;
    };
  }, [state]);

  useEffect(() => {
    const loaded = data.value;
    if (!loaded) return undefined;
    props.onData?.(loaded);
    const drawing = runner.value;
    if (!drawing) {
      if (cannotDraw.value) state.time.value ??= loaded.elements.time;
      return undefined;
    }
    if (system.current !== undefined && loaded.cast.system !== system.current) forgetView(state, loaded);
    system.current = loaded.cast.system;
    drawing.setData(loaded);
    return undefined;
  }, [data.value, runner.value, cannotDraw.value]);

  const followed = useStar(state, data.value);
  useEffect(() => {
    const [loaded, drawing] = [data.value, runner.value];
    if (!loaded || !drawing) return undefined;
    const stop = new AbortController();
    loadZone(universe, loaded, followed, stop.signal).then(
      (found) => {
        if (stop.signal.aborted) return;
        drawing.setZone(found?.zone);
        zone.value = found;
      },
      () => undefined, // the picture is complete without a zone
    );
    return () => stop.abort();
  }, [data.value, runner.value, followed]);

  const trajectory = props.trajectory?.value;
  useEffect(() => runner.value?.setTrajectory(trajectory), [runner.value, trajectory]);

  usePointer(canvas, runner);
  const failed = error.value;
  const cast = data.value?.cast;
  return (
    <div class="sky" ref={host}>
      {cannotDraw.value && data.value && <PositionsTable data={data.value} state={state} />}
      <canvas
        ref={canvas}
        role="img"
        aria-label={cast ? texts.picture(cast.name, data.value?.elements.count ?? 0) : texts.loading}
        hidden={cannotDraw.value}
      />
      <div class="sky-labels" ref={labels} aria-hidden="true" />
      <span class="sky-ring" ref={ring} aria-hidden="true" hidden />
      {!data.value && (
        <div class="sky-message">
          {failed ? <ErrorState error={failed} onRetry={() => retries.value++} /> : <LoadingState />}
        </div>
      )}
      {data.value?.elements.count === 0 && (
        <div class="sky-message">
          <EmptyState title={texts.empty} hint={texts.emptyHint} />
        </div>
      )}
      {data.value && failed && (
        <p class="sky-note" role="alert">
          {failed.message} {failed.hint}
        </p>
      )}
      {cast && runner.value && (
        <SkyFacts runner={runner.value} state={state} cast={cast} zone={zone.value} trajectory={trajectory} />
      )}
      {cast && runner.value && hasControls && (
        <Controls runner={runner.value} state={state} cast={cast} zone={zone.value} />
      )}
      {cast && data.value && hasControls && (
        <TimeBar state={state} cast={cast} universeTime={data.value.elements.time} />
      )}
    </div>
  );
}

/** Use the id of the followed body if it is a star, which may have a habitable zone of its own. */
function useStar(state: SkyState, data: SkyData | undefined): string | undefined {
  const id = state.followed.value;
  return data?.cast.bodies.find((body) => body.id === id)?.type === "star" ? id : undefined;
}

/** Return whether a body is hidden because another system is drawn. */
function isInOtherSystem(data: SkyData | undefined, id: string): boolean {
  const index = data?.cast.system === undefined ? undefined : data.elements.indexOf.get(id);
  return data !== undefined && index !== undefined && (getFlags(data.elements, index) & NO_POSITION) !== 0;
}

/** Let the next system choose the view: what suits one system does not suit another. */
function forgetView(state: SkyState, next: SkyData): void {
  const followed = state.followed.peek();
  if (followed !== undefined && isInOtherSystem(next, followed)) state.followed.value = undefined;
  state.camera.value = undefined;
  state.isLog.value = undefined;
  state.speed.value = undefined;
}

/** Read a universe now, whenever it changes, and again after an error. Changes during a request become one further request. */
function followUniverse(
  universe: string,
  version: ReadonlySignal<number | undefined> | undefined,
  selected: ReadonlySignal<string | undefined>,
  retries: ReadonlySignal<number>,
  data: Signal<SkyData | undefined>,
  error: Signal<ApiError | undefined>,
): () => void {
  const stop = new AbortController();
  let isLoading = false;
  let isStale = false;
  const load = async () => {
    if (isLoading) {
      isStale = true;
      return;
    }
    isLoading = true;
    do {
      isStale = false;
      try {
        const loaded = await loadSky(universe, version?.peek(), selected.peek(), stop.signal);
        if (stop.signal.aborted) return;
        data.value = loaded;
        error.value = undefined;
      } catch (thrown) {
        if (stop.signal.aborted) return;
        error.value = toApiError(thrown);
      }
    } while (isStale);
    isLoading = false;
  };
  const stopVersion = effect(() => {
    void version?.value;
    void retries.value;
    void load();
  });
  const stopSystem = effect(() => {
    if (selected.value !== undefined && isInOtherSystem(data.peek(), selected.value)) void load();
  });
  const stopRetry = retryWhenLive(error, () => void load());
  const stopChanges = listenForChanges((change) => {
    const isOurs = change.kind === "universe" && change.subject === universe;
    if (change.kind === "reset" || (isOurs && version?.peek() === undefined)) void load();
  });
  return () => {
    stop.abort();
    stopVersion();
    stopSystem();
    stopRetry();
    stopChanges();
  };
}
