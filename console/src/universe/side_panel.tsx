import type { Signal } from "@preact/signals";
import type { SkyData } from "../sky/load.ts";
import type { SkyHandle } from "../sky/sky.tsx";
import type { SkyState } from "../sky/state.ts";
import type { Trajectory } from "../sky/trajectory.ts";
import { strings } from "../strings.ts";

export interface SidePanelProps {
  universe: string;
  state: SkyState;
  /** The version that is shown, once it is loaded. */
  data: SkyData | undefined;
  sky: SkyHandle | undefined;
  /** Set it to show an earlier version, and to undefined for the present one. */
  version: Signal<number | undefined>;
  /** Set it to `loadTrajectory(...)` to play an N-body run. */
  trajectory: Signal<Trajectory | undefined>;
}

/** What is beside the sky: the selected body. */
export function SidePanel({ universe, state, data }: SidePanelProps) {
  const id = state.selected.value;
  const name = data?.cast.bodies.find((body) => body.id === id)?.name ?? id;
  return (
    <>
      <h1 dir="auto">{data?.cast.name ?? universe}</h1>
      <p class="quiet" dir="auto">
        {name ?? strings.sky.nothingSelected}
      </p>
    </>
  );
}
