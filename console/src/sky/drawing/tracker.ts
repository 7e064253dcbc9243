import type { Cast } from "../bodies.ts";
import { CONIC, type Elements, EXACT, getFlags, getParent } from "../elements.ts";
import { computeOffset, computePosition, type Point, toTicks } from "../motion.ts";
import { interpolate, type Trajectory } from "../trajectory.ts";

/** Chains of more parents than the shaders walk up are cut by positions of the CPU. */
const MOST_PARENTS = 4;

/**
 * The bodies whose positions the CPU computes in every frame, in 64 bits: those with labels, those that shaders cannot
 * compute, and all their parents. Their number does not grow with the universe.
 */
export class Tracker {
  /** Indices of the bodies, parents first, and the place of each in this list. */
  readonly bodies: readonly number[];
  readonly slots: ReadonlyMap<number, number>;
  /** Positions, offsets from the parents, offsets that the orbits say, three numbers each, and anomalies on the orbits. */
  readonly positions: Float64Array;
  readonly offsets: Float64Array;
  readonly orbitOffsets: Float64Array;
  readonly anomalies: Float64Array;
  /** Bodies of the trajectory, and the place of each in it. */
  private readonly played = new Map<number, number>();

  constructor(
    private readonly elements: Elements,
    cast: Cast,
    focus: number,
    private readonly trajectory?: Trajectory,
  ) {
    const { depths, childCounts, rings } = elements.hierarchy;
    const chosen = new Set<number>();
    const add = (index: number) => {
      for (let at = index; at >= 0 && !chosen.has(at); at = getParent(elements, at)) chosen.add(at);
    };
    for (const body of cast.bodies) add(body.index);
    for (const index of elements.exact.keys()) add(index);
    for (const index of rings) add(index);
    add(focus);
    for (const [place, id] of trajectory?.ids.entries() ?? []) {
      const index = elements.indexOf.get(id);
      if (index === undefined) continue;
      add(index);
      this.played.set(index, place);
    }
    for (let index = 0; index < elements.count; index += 1) {
      const depth = depths[index] ?? 0;
      if (depth >= MOST_PARENTS && depth % MOST_PARENTS === 0 && childCounts[index]) add(index);
    }
    this.bodies = [...chosen].sort((a, b) => (depths[a] ?? 0) - (depths[b] ?? 0));
    this.slots = new Map(this.bodies.map((index, slot) => [index, slot]));
    this.positions = new Float64Array(this.bodies.length * 3);
    this.offsets = new Float64Array(this.bodies.length * 3);
    this.orbitOffsets = new Float64Array(this.bodies.length * 3);
    this.anomalies = new Float64Array(this.bodies.length);
  }

  /** Return whether the shaders take the position of a body from here. */
  isKnown(index: number): boolean {
    const { childCounts, rings } = this.elements.hierarchy;
    return (
      this.slots.has(index) &&
      ((childCounts[index] ?? 0) > 0 ||
        this.played.has(index) ||
        (getFlags(this.elements, index) & EXACT) !== 0 ||
        rings.has(index))
    );
  }

  isRoot(index: number): boolean {
    return getParent(this.elements, index) < 0;
  }

  isConic(index: number): boolean {
    return this.elements.exact.get(index)?.kind === CONIC;
  }

  /** Compute all positions at a time. */
  update(time: number): void {
    const { elements, positions, offsets, orbitOffsets, anomalies } = this;
    const { rings } = elements.hierarchy;
    const ticks = toTicks(elements, time);
    const offset: Point = [0, 0, 0];
    const exact: Point = [0, 0, 0];
    for (const [slot, index] of this.bodies.entries()) {
      anomalies[slot] = computeOffset(elements, index, time, ticks, offset);
      const ring = rings.has(index) ? computePosition(elements, index, time, ticks) : undefined;
      const parent = this.slots.get(getParent(elements, index));
      for (let axis = 0; axis < 3; axis += 1) {
        const part = offset[axis] ?? 0;
        const above = parent === undefined ? 0 : (positions[parent * 3 + axis] ?? 0);
        offsets[slot * 3 + axis] = part;
        orbitOffsets[slot * 3 + axis] = part;
        positions[slot * 3 + axis] = ring?.[axis] ?? part + above;
      }
      const played = this.played.get(index);
      if (played === undefined || !this.trajectory || !interpolate(this.trajectory, played, time, exact)) continue;
      for (let axis = 0; axis < 3; axis += 1) {
        const above = parent === undefined ? 0 : (positions[parent * 3 + axis] ?? 0);
        positions[slot * 3 + axis] = exact[axis] ?? 0;
        offsets[slot * 3 + axis] = (exact[axis] ?? 0) - above;
      }
    }
  }

  /** Write the position of a body into `out`, and return whether it is tracked. */
  read(index: number, out: Point): boolean {
    const slot = this.slots.get(index);
    if (slot === undefined) return false;
    for (let axis = 0; axis < 3; axis += 1) out[axis] = this.positions[slot * 3 + axis] ?? 0;
    return true;
  }
}
