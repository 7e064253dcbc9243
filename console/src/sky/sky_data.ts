import { api } from "../data/api.ts";
import { type Cast, loadCast } from "./bodies.ts";
import type { Zone } from "./drawing/scene.ts";
import { type Elements, getFlags, NO_POSITION, parseElements } from "./elements.ts";
import { chooseSystem, findSystemsAtOnePlace, hideOtherSystems } from "./systems.ts";

/** Everything that a picture of one version needs. */
export interface SkyData {
  elements: Elements;
  cast: Cast;
}

/**
 * Read the orbits and the looks of a universe, at its present version or at an earlier one. Of systems without positions
 * relative to each other only that of the selected body is drawn.
 */
export async function loadSky(
  universe: string,
  version: number | undefined,
  selected: string | undefined,
  signal: AbortSignal,
): Promise<SkyData> {
  const bytes = await api.getBytes("/api/universes/{universe_id}/elements", {
    path: { universe_id: universe },
    query: { version: version ?? null },
    signal,
  });
  const elements = parseElements(bytes);
  const systems = findSystemsAtOnePlace(elements);
  const shown = chooseSystem(elements, systems, selected);
  hideOtherSystems(elements, systems, shown);
  return { elements, cast: await loadCast(universe, elements.version, elements, systems, shown, signal) };
}

/** A habitable zone, and a remark if it is that of another temperature than the star's. */
export interface FoundZone {
  zone: Zone;
  note: string | undefined;
  temperature: number;
}

/** Read the habitable zone of the followed star, or else the first one of the universe. */
export async function loadZone(
  universe: string,
  { elements, cast }: SkyData,
  followed: string | undefined,
  signal: AbortSignal,
): Promise<FoundZone | undefined> {
  if (!cast.isAstronomical) return undefined;
  const reply = await api.get("/api/universes/{universe_id}/physics", {
    path: { universe_id: universe },
    query: { version: elements.version, bodies: false },
    signal,
  });
  const zones = Object.entries(reply.zones ?? {});
  zones.sort(([one], [other]) => Number(other === followed) - Number(one === followed));
  for (const [id, one] of zones) {
    const star = elements.indexOf.get(id);
    const names = ["recentVenus", "runawayGreenhouse", "maximumGreenhouse", "earlyMars"];
    const [a, b, c, d] = names.map((name) => one.limits?.[name]?.au);
    if (star !== undefined && !(getFlags(elements, star) & NO_POSITION) && a && b && c && d) {
      return { zone: { star, limits: [a, b, c, d] }, note: one.note ?? undefined, temperature: one.temperature ?? 0 };
    }
  }
  return undefined;
}
