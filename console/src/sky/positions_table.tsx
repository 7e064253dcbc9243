import { Table } from "../common/layout.tsx";
import { computePosition } from "./motion.ts";
import type { SkyData } from "./sky_data.ts";
import type { SkyState } from "./sky_state.ts";
import { skyTexts as texts } from "./strings.ts";

const MOST_ROWS = 200;

/** The positions of the bodies as numbers, where the browser cannot draw them. */
export function PositionsTable({ data, state }: { data: SkyData; state: SkyState }) {
  const { elements, cast } = data;
  const time = state.time.value ?? elements.time;
  const rows = cast.bodies.slice(0, MOST_ROWS).map((body) => {
    const [x, y, z] = computePosition(elements, body.index, time);
    const cells = [x, z, y].map((value) => value.toPrecision(6));
    return [<span dir="auto">{body.name}</span>, ...cells];
  });
  const unit = cast.isAstronomical ? " (AU)" : "";
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <div class="sky-table" tabIndex={0} role="region" aria-label={texts.positions}>
      <p role="status">
        <strong>{texts.noDrawing}</strong> {texts.noDrawingHint}
      </p>
      <Table
        label={texts.positions}
        columns={[
          { title: texts.body },
          { title: `x${unit}`, isNumber: true },
          { title: `y${unit}`, isNumber: true },
          { title: `z${unit}`, isNumber: true },
        ]}
        rows={rows}
      />
    </div>
  );
}
