import { Tag, type Tone } from "../common/controls.tsx";
import { Loaded } from "../common/states.tsx";
import { api } from "../data/api.ts";
import { useResource } from "../data/resource.ts";
import { describePlanetMass } from "../universes/values.ts";
import { storyTexts as texts } from "./strings.ts";

const DIGITS = 3;
const TONES: Record<string, Tone> = { supported: "yes", cited: "yes", "unverified claim": "maybe" };

interface Mass {
  body: string;
  name: string;
  mass: number;
  status: string;
  reason: string;
  as_written: string;
  is_on_shelf: boolean;
  location: { row?: string[]; section?: string } | null;
  set_by: string;
}

/** The mass of every body, with its status and the table row that states the mass. */
export function MassTable({ endedAt }: { endedAt: string }) {
  const built = useResource(`story masses ${endedAt}`, (signal) =>
    api.get("/api/story/steps/{step_id}", { path: { step_id: "build" }, signal }),
  );
  return (
    <Loaded resource={built}>
      {(step) => (
        <ul class="value-list" aria-label={texts.masses}>
          {((step.result?.masses ?? []) as Mass[]).map((mass) => (
            <li key={mass.body}>
              <span dir="auto">{mass.name}</span>
              <span class="mono small">{formatMass(mass)}</span>
              <Tag tone={TONES[mass.status] ?? "neutral"}>{mass.status}</Tag>
              <span class="quiet small" dir="auto">
                {describeOrigin(mass)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Loaded>
  );
}

export function formatMass(mass: Pick<Mass, "mass">): string {
  return describePlanetMass(mass.mass) ?? texts.solarMasses(mass.mass.toPrecision(DIGITS));
}

function describeOrigin(mass: Mass): string {
  if (!mass.location?.row) return mass.reason || mass.set_by;
  const place = mass.is_on_shelf ? texts.onShelf : texts.notOnShelf;
  return `${texts.row(mass.location.row.join(" | "))}, ${place}`;
}
