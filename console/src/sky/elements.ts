import { commonTexts } from "../common/strings.ts";
import { ApiError } from "../data/api_error.ts";
import { skyTexts } from "./strings.ts";

/** Flags of a body in the binary. */
export const KEPLER = 1;
export const EXACT = 2;
export const NO_POSITION = 4;

/** Kinds of exact orbits. */
export const CONIC = 1;
export const LINE = 2;
export const FAST = 3;

export const WORDS = 16;
const HEADER_BYTES = 64;
const BODY_BYTES = 64;
const EXACT_BYTES = 112;
const EXACT_VALUES = 13;
const UNKNOWN = -1;
const WALKED = -2;
const MAGIC = 0x4c454255; // "UBEL", little-endian

/** An orbit that only 64-bit numbers describe well; the values depend on the kind. */
export interface ExactOrbit {
  kind: number;
  values: Float64Array;
}

/** The orbits of all bodies of a universe at one version. The layout is in docs/reference/universe.md. */
export interface Elements {
  version: number;
  count: number;
  /** The time of the universe, the time of tick 0, and the length of a tick. */
  time: number;
  origin: number;
  tick: number;
  ids: readonly string[];
  indexOf: ReadonlyMap<string, number>;
  /** Sixteen words for each body, and the same bytes as floats and as signed integers. */
  words: Uint32Array<ArrayBuffer>;
  floats: Float32Array;
  integers: Int32Array;
  exact: ReadonlyMap<number, ExactOrbit>;
  hierarchy: Hierarchy;
}

interface Hierarchy {
  /** For each body the number of its parents, and of the bodies whose parent it is. */
  depths: Int32Array;
  childCounts: Uint32Array;
  /** Bodies that are a parent of their own parents. Each of them counts once in a sum along the parents. */
  rings: ReadonlySet<number>;
}

/** Return the parent's index of a body, or -1. */
export function getParent(elements: Elements, index: number): number {
  return elements.integers[index * WORDS + 3] ?? -1;
}

export function getFlags(elements: Elements, index: number): number {
  return elements.words[index * WORDS + 14] ?? NO_POSITION;
}

/** Return the radius at which the universe draws a body, in the unit of positions. */
export function getRadius(elements: Elements, index: number): number {
  return elements.floats[index * WORDS + 15] ?? 0;
}

/** Return the time of a turn in the unit of time, or undefined for a body that makes none. */
export function computePeriod(elements: Elements, index: number): number | undefined {
  const at = index * WORDS;
  const turns = (elements.words[at] ?? 0) / 2 ** 64 + (elements.integers[at + 1] ?? 0) / 2 ** 32;
  return turns ? Math.abs(elements.tick / turns) : undefined;
}

/** Return the orbits in a reply of the server. Throw ApiError if it is not a binary of this layout. */
export function parseElements(buffer: ArrayBuffer): Elements {
  const view = new DataView(buffer);
  if (buffer.byteLength < HEADER_BYTES || view.getUint32(0, true) !== MAGIC || view.getUint32(4, true) !== 1) {
    throw makeLayoutError();
  }
  const count = view.getUint32(8, true);
  const exactCount = view.getUint32(12, true);
  const idBytes = view.getUint32(24, true);
  const exactStart = HEADER_BYTES + count * BODY_BYTES;
  const idStart = exactStart + exactCount * EXACT_BYTES;
  if (view.getUint32(28, true) !== BODY_BYTES || buffer.byteLength !== idStart + idBytes) throw makeLayoutError();
  const exact = new Map<number, ExactOrbit>();
  for (let row = 0; row < exactCount; row += 1) {
    const start = exactStart + row * EXACT_BYTES;
    const values = new Float64Array(EXACT_VALUES);
    for (let place = 0; place < EXACT_VALUES; place += 1) {
      values[place] = view.getFloat64(start + 8 + place * 8, true);
    }
    exact.set(view.getUint32(start, true), { kind: view.getUint32(start + 4, true), values });
  }
  const ids = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, idStart, idBytes))) as string[];
  return {
    version: Number(view.getBigUint64(16, true)),
    count,
    time: view.getFloat64(32, true),
    origin: view.getFloat64(40, true),
    tick: view.getFloat64(48, true),
    ids,
    indexOf: new Map(ids.map((id, index) => [id, index])),
    words: new Uint32Array(buffer, HEADER_BYTES, count * WORDS),
    floats: new Float32Array(buffer, HEADER_BYTES, count * WORDS),
    integers: new Int32Array(buffer, HEADER_BYTES, count * WORDS),
    exact,
    hierarchy: computeHierarchy(new Int32Array(buffer, HEADER_BYTES, count * WORDS), count),
  };
}

function computeHierarchy(integers: Int32Array, count: number): Hierarchy {
  const depths = new Int32Array(count).fill(UNKNOWN);
  const childCounts = new Uint32Array(count);
  const rings = new Set<number>();
  const walk: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const parent = integers[index * WORDS + 3] ?? -1;
    if (parent >= 0) childCounts[parent] = (childCounts[parent] ?? 0) + 1;
    let at = index;
    for (; at >= 0 && depths[at] === UNKNOWN; at = integers[at * WORDS + 3] ?? -1) {
      depths[at] = WALKED;
      walk.push(at);
    }
    if (at >= 0 && depths[at] === WALKED) {
      for (const one of walk.slice(walk.indexOf(at))) {
        rings.add(one);
        depths[one] = 0;
      }
    }
    let depth = at >= 0 ? (depths[at] ?? 0) : -1;
    for (let one = walk.pop(); one !== undefined; one = walk.pop()) {
      if (depths[one] === WALKED) {
        depth += 1;
        depths[one] = depth;
      }
    }
  }
  return { depths, childCounts, rings };
}

function makeLayoutError(): ApiError {
  return new ApiError(skyTexts.unreadable, commonTexts.errors.brokenHint, "elements_unreadable", -1);
}
