import { BufferAttribute, BufferGeometry, Color, InstancedBufferAttribute, InstancedBufferGeometry } from "three";
import type { Body } from "../bodies.ts";

const RING_STEPS = 180;

/** Return the radius in pixels at which a body is easy to see. */
export function getReadableRadius(body: Body): number {
  if (body.type === "star") return body.depth === 0 ? 8 : 6;
  if (body.depth <= 1) return body.type === "planet" || body.hasChildren ? 4.4 : 2.6;
  return 2.8;
}

export function makeCorners<T extends BufferGeometry>(geometry: T = new BufferGeometry() as T): T {
  geometry.setAttribute("corner", new BufferAttribute(new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), 2));
  geometry.setIndex([0, 1, 2, 2, 1, 3]);
  return geometry;
}

export function makeDiscGeometry(bodies: readonly Body[]): InstancedBufferGeometry {
  const geometry = makeCorners(new InstancedBufferGeometry());
  geometry.instanceCount = bodies.length;
  const body = new Float32Array(bodies.length);
  const color = new Float32Array(bodies.length * 3);
  const looks = new Float32Array(bodies.length * 3);
  const paint = new Color();
  // The most important bodies are drawn last.
  for (const [place, one] of bodies.toReversed().entries()) {
    body[place] = one.index;
    paint.setStyle(one.color, "srgb-linear").toArray(color, place * 3);
    looks.set([getReadableRadius(one), one.radius, one.type === "star" ? 1 : 0], place * 3);
  }
  geometry.setAttribute("body", new InstancedBufferAttribute(body, 1));
  geometry.setAttribute("color", new InstancedBufferAttribute(color, 3));
  geometry.setAttribute("looks", new InstancedBufferAttribute(looks, 3));
  return geometry;
}

export function makeRingGeometry(limits: readonly number[]): BufferGeometry {
  const geometry = new BufferGeometry();
  const opacities = [0, 0.13, 0.13, 0];
  const ring: number[] = [];
  const radius: number[] = [];
  const index: number[] = [];
  for (let step = 0; step <= RING_STEPS; step += 1) {
    const angle = (step / RING_STEPS) * 2 * Math.PI;
    for (const [place, limit] of limits.entries()) {
      ring.push(Math.cos(angle), Math.sin(angle), opacities[place] ?? 0);
      radius.push(limit);
      if (step < RING_STEPS && place < limits.length - 1) {
        const at = step * limits.length + place;
        const next = at + limits.length;
        index.push(at, next, at + 1, at + 1, next, next + 1);
      }
    }
  }
  geometry.setIndex(index);
  geometry.setAttribute("ring", new BufferAttribute(new Float32Array(ring), 3));
  geometry.setAttribute("radius", new BufferAttribute(new Float32Array(radius), 1));
  return geometry;
}
