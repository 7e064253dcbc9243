import { type Elements, getFlags, getParent, NO_POSITION, WORDS } from "./elements.ts";
import { computePosition } from "./motion.ts";

/** Return the bodies without a parent at the place where most of them are; none if all places differ. */
export function findSystemsAtOnePlace(elements: Elements): number[] {
  const places = new Map<string, number[]>();
  for (let index = 0; index < elements.count; index += 1) {
    if (getParent(elements, index) >= 0 || getFlags(elements, index) & NO_POSITION) continue;
    const place = computePosition(elements, index, elements.time).join();
    const found = places.get(place);
    if (found) found.push(index);
    else places.set(place, [index]);
  }
  const largest = [...places.values()].reduce((most, one) => (one.length > most.length ? one : most), []);
  return largest.length > 1 ? largest : [];
}

/** Return the body without a parent that a body belongs to. */
function findRoot(elements: Elements, index: number): number {
  let at = index;
  for (let depth = elements.hierarchy.depths[index] ?? 0; depth > 0; depth -= 1) at = getParent(elements, at);
  return at;
}

/** Choose the system of a body, or else the first one with planets. */
export function chooseSystem(elements: Elements, systems: readonly number[], body: string | undefined): number {
  const index = body === undefined ? undefined : elements.indexOf.get(body);
  const root = index === undefined ? -1 : findRoot(elements, index);
  if (systems.includes(root)) return root;
  return systems.find((one) => elements.hierarchy.childCounts[one]) ?? systems[0] ?? -1;
}

/** Take the positions from the bodies of all systems but one, so that they are not drawn. */
export function hideOtherSystems(elements: Elements, systems: readonly number[], shown: number): void {
  if (!systems.length) return;
  const hidden = new Set(systems.filter((one) => one !== shown));
  for (let index = 0; index < elements.count; index += 1) {
    if (!hidden.has(findRoot(elements, index))) continue;
    elements.words[index * WORDS + 14] = getFlags(elements, index) | NO_POSITION;
  }
}
