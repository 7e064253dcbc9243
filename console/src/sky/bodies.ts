import { api } from "../data/api.ts";
import { type Elements, EXACT, getFlags, getParent, getRadius, NO_POSITION } from "./elements.ts";
import { computeOrbitSize } from "./motion.ts";

/** A body that is drawn as a disc with a label. All others are points. */
export interface Body {
  index: number;
  id: string;
  name: string;
  type: string;
  color: string;
  /** The index of the parent, or -1, and the number of parents above. */
  parent: number;
  depth: number;
  hasChildren: boolean;
  /** The true radius in the unit of positions. */
  radius: number;
  /** The place in the order of importance, from 0. */
  rank: number;
}

/** What the API says about a body, as far as the picture needs it. */
interface BodyReply {
  name?: string;
  bodyType?: string;
  color?: string;
  kepler?: { units?: string };
  physical?: { epochJulianDate?: number; displayMagnification?: number; radiusKm?: number };
}

/** The bodies with labels, and what holds for the whole universe. */
export interface Cast {
  name: string;
  bodies: readonly Body[];
  byIndex: ReadonlyMap<number, Body>;
  /** The Julian date of time 0, if the universe has one. */
  epoch: number | undefined;
  /** Whether lengths are astronomical units and times days. */
  isAstronomical: boolean;
  /** Systems without positions relative to each other, of which one is drawn: its id, and all of them by their roots. */
  system: string | undefined;
  systems: readonly Pick<Body, "id" | "name">[];
}

/** Discs and names are for the important bodies: of a large universe few, so that a belt stays a belt. */
const MOST_BODIES = 200;
const MOST_OF_MANY = 60;
const MANY = 400;
export const KM_PER_AU = 149_597_870.7;
const DEFAULT_COLOR = "#b9ad98";

/** Return the indices of the most important bodies: roots, then parents, then the largest. */
export function chooseBodies(elements: Elements): number[] {
  const { childCounts } = elements.hierarchy;
  const all: number[] = [];
  for (let index = 0; index < elements.count; index += 1) {
    if (!(getFlags(elements, index) & NO_POSITION)) all.push(index);
  }
  const rate = (index: number) =>
    (getParent(elements, index) < 0 ? 4 : 0) +
    (childCounts[index] ? 2 : 0) +
    (getFlags(elements, index) & EXACT ? 1 : 0);
  const rates = new Map(all.map((index) => [index, rate(index)]));
  all.sort(
    (a, b) => (rates.get(b) ?? 0) - (rates.get(a) ?? 0) || getRadius(elements, b) - getRadius(elements, a) || a - b,
  );
  return all.slice(0, elements.count > MANY ? MOST_OF_MANY : MOST_BODIES);
}

/** Return bodies in the order of a list: each one before those that orbit it, and these by the size of their orbits. */
export function sortByOrbit(elements: Elements, bodies: readonly Body[]): Body[] {
  const listed = new Set(bodies.map((body) => body.index));
  const children = new Map<number, Body[]>();
  for (const body of bodies) {
    const parent = listed.has(body.parent) && !elements.hierarchy.rings.has(body.index) ? body.parent : -1;
    children.set(parent, [...(children.get(parent) ?? []), body]);
  }
  const sizes = new Map(bodies.map((body) => [body.index, computeOrbitSize(elements, body.index)]));
  const list = (parent: number): Body[] => {
    const own = children.get(parent) ?? [];
    if (parent >= 0) own.sort((a, b) => (sizes.get(a.index) ?? 0) - (sizes.get(b.index) ?? 0));
    return own.flatMap((body) => [body, ...list(body.index)]);
  };
  return list(-1);
}

/** Read the names and looks of the most important bodies, and the names of systems of which one is drawn. */
export async function loadCast(
  universe: string,
  version: number | undefined,
  elements: Elements,
  systems: readonly number[],
  shown: number,
  signal: AbortSignal,
): Promise<Cast> {
  const { depths, childCounts } = elements.hierarchy;
  const chosen = chooseBodies(elements);
  const roots = systems.map((index) => elements.ids[index] ?? "");
  const ids = [...new Set([...chosen.map((index) => elements.ids[index] ?? ""), ...roots.slice(0, MOST_BODIES)])];
  const reply = (await api.get("/api/universes/{universe_id}", {
    path: { universe_id: universe },
    query: { ...(ids.length ? { ids } : { limit: 1 }), format: "compact", version: version ?? null },
    signal,
  })) as { name?: string; state?: { stars?: Record<string, BodyReply> } };
  const stars = reply.state?.stars ?? {};
  const bodies = chosen.map((index, rank): Body => {
    const id = elements.ids[index] ?? "";
    const one = stars[id] ?? {};
    const physical = one.physical ?? {};
    const magnified = getRadius(elements, index) / (physical.displayMagnification || 1);
    return {
      index,
      id,
      rank,
      name: typeof one.name === "string" && one.name ? one.name : id,
      type: typeof one.bodyType === "string" ? one.bodyType : "",
      color: typeof one.color === "string" && /^#[0-9a-f]{6}$/i.test(one.color) ? one.color : DEFAULT_COLOR,
      parent: getParent(elements, index),
      depth: depths[index] ?? 0,
      hasChildren: (childCounts[index] ?? 0) > 0,
      radius: physical.radiusKm && one.kepler ? physical.radiusKm / KM_PER_AU : magnified,
    };
  });
  const all = Object.values(stars);
  const epoch = all.find((one) => Number.isFinite(one.physical?.epochJulianDate))?.physical?.epochJulianDate;
  return {
    name: reply.name ?? universe,
    bodies,
    byIndex: new Map(bodies.map((body) => [body.index, body])),
    epoch,
    // The most important bodies of many systems are stars, which have no orbits.
    isAstronomical: epoch !== undefined || all.some((one) => one.kepler?.units === "astronomical"),
    system: elements.ids[shown],
    systems: roots.map((id) => ({ id, name: stars[id]?.name || id })),
  };
}
