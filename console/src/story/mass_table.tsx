import { Tag, type Tone } from "../common/controls.tsx";
import { Loaded } from "../common/states.tsx";
import { api } from "../data/api.ts";
import type { BodyMass, StoryStepWithResult } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { describePlanetMass } from "../universes/value_origins.ts";
import { storyTexts as texts } from "./strings.ts";

const DIGITS = 3;
const TONES: Record<string, Tone> = { supported: "yes", cited: "yes", "unverified claim": "maybe" };

/** The mass of every body, with its status and the table row that states the mass. */
export function MassTable({ endedAt }: { endedAt: string }) {
  const built = useResource(`story masses ${endedAt}`, (signal) =>
    api.get("/api/story/steps/{step_id}", { path: { step_id: "build" }, signal }),
  );
  return (
    <Loaded resource={built}>
      {(step) => (
        <ul class="value-list" aria-label={texts.masses}>
          {listMasses(step).map((mass) => (
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

/** Return the masses of the universe, which the step that builds it stores. */
function listMasses({ result }: StoryStepWithResult): BodyMass[] {
  return result && "commands" in result ? result.masses : [];
}

export function formatMass(mass: Pick<BodyMass, "mass">): string {
  return describePlanetMass(mass.mass) ?? texts.solarMasses(mass.mass.toPrecision(DIGITS));
}

function describeOrigin(mass: BodyMass): string {
  if (!mass.location?.row) return mass.reason || mass.set_by;
  const place = mass.is_on_shelf ? texts.onShelf : texts.notOnShelf;
  return `${texts.row(mass.location.row.join(" | "))}, ${place}`;
}
