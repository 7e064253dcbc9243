import { useEffect, useRef } from "preact/hooks";
import { api } from "../data/api.ts";
import { useResource } from "../data/resource.ts";
import { chooseBodies } from "../sky/bodies.ts";
import { computePeriod, type Elements, getParent, parseElements } from "../sky/elements.ts";
import { computePosition, toTicks } from "../sky/motion.ts";
import { universeTexts } from "./strings.ts";

const MOST_BODIES = 60;
const WIDE_RANGE = 12;
const POINTS = 72;
const ROUND_MS = 9_000; // the typical orbit takes so long
const FRAME_MS = 33;
const TURN = 2 * Math.PI;

interface Drawn {
  index: number;
  radius: number;
  period: number | undefined;
  path: readonly (readonly [number, number])[];
}

interface Picture {
  elements: Elements;
  bodies: readonly Drawn[];
  /** Return where a point of the reference plane is drawn, from -1 to 1. */
  place(x: number, y: number): [number, number];
  /** The time that passes in a millisecond. */
  pace: number;
}

/** A universe from above, moving, as large as its parent makes it. */
export function OrbitPicture({ universe, name }: { universe: string; name: string }) {
  const picture = useResource(
    `orbits ${universe}`,
    async (signal) => {
      const path = { universe_id: universe };
      return makePicture(parseElements(await api.getBytes("/api/universes/{universe_id}/elements", { path, signal })));
    },
    (change) => change.kind === "universe" && change.subject === universe && !change.deleted,
  ).value.value;
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => (picture && canvas.current ? animate(canvas.current, picture) : undefined), [picture]);
  return <canvas ref={canvas} class="orbit-picture" role="img" aria-label={universeTexts.universes.picture(name)} />;
}

/** Choose the bodies to draw: the roots and those around the first of them, and no moons of planets. */
function makePicture(elements: Elements): Picture {
  const { depths } = elements.hierarchy;
  const important = chooseBodies(elements);
  const first = important[0] ?? -1;
  const chosen = important.filter((index) => index === first || isAbout(elements, index, first));
  const time = elements.time;
  const bodies: Drawn[] = [];
  for (const index of chosen.slice(0, MOST_BODIES)) {
    const period = computePeriod(elements, index);
    const [x, , z] = computePosition(elements, index, time);
    const path = period && (depths[index] ?? 0) > 0 ? tracePath(elements, index, time, period) : [];
    bodies.push({ index, radius: Math.hypot(x, z), period, path });
  }
  const radii = bodies.map((body) => body.radius).filter((radius) => radius > 0);
  const far = Math.max(...bodies.flatMap((body) => body.path.map(([x, y]) => Math.hypot(x, y))), ...radii, 1e-9);
  const near = Math.min(...radii, far);
  const place = makePlace(near, far);
  const periods = bodies.flatMap((body) => body.period ?? []);
  periods.sort((a, b) => a - b);
  return { elements, bodies, place, pace: (periods[Math.floor(periods.length / 2)] ?? 1) / ROUND_MS };
}

function isAbout(elements: Elements, index: number, root: number): boolean {
  return getParent(elements, index) === root || (getParent(elements, index) < 0 && index !== root);
}

/** Distances stay true if they differ little, and are logarithmic otherwise. */
function makePlace(near: number, far: number): Picture["place"] {
  if (far / near <= WIDE_RANGE) return (x, y) => [x / far, y / far];
  const scale = Math.log1p(far / near);
  return (x, y) => {
    const radius = Math.hypot(x, y);
    const ratio = radius > 0 ? Math.log1p(radius / near) / scale / radius : 0;
    return [x * ratio, y * ratio];
  };
}

function tracePath(elements: Elements, index: number, time: number, period: number): [number, number][] {
  const points: [number, number][] = [];
  for (let step = 0; step <= POINTS; step += 1) {
    const at = time + (period * step) / POINTS;
    const [x, , z] = computePosition(elements, index, at);
    points.push([x, -z]);
  }
  return points;
}

/** Draw the picture while it is on the screen; return a function that ends this. */
function animate(canvas: HTMLCanvasElement, picture: Picture): () => void {
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let isVisible = false;
  let frame = 0;
  let last = 0;
  let passed = 0;
  const step = (now: number) => {
    if (now - last >= FRAME_MS) {
      passed += Math.min(now - last, 200);
      last = now;
      draw(canvas, picture, picture.elements.time + passed * picture.pace);
    }
    if (isVisible && !isStill) frame = requestAnimationFrame(step);
  };
  const observer = new IntersectionObserver((entries) => {
    isVisible = entries.some((entry) => entry.isIntersecting);
    cancelAnimationFrame(frame);
    if (isVisible) frame = requestAnimationFrame(step);
  });
  observer.observe(canvas);
  return () => {
    observer.disconnect();
    cancelAnimationFrame(frame);
  };
}

function draw(canvas: HTMLCanvasElement, picture: Picture, time: number): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const ratio = devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * ratio);
  const height = Math.round(canvas.clientHeight * ratio);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const half = Math.min(width, height) / 2;
  const toPixels = (x: number, y: number): [number, number] => {
    const [left, up] = picture.place(x, y);
    return [width / 2 + left * half * 0.9, height / 2 - up * half * 0.9];
  };
  context.clearRect(0, 0, width, height);
  context.lineWidth = ratio;
  context.strokeStyle = "rgb(139 184 255 / 0.32)";
  for (const { path } of picture.bodies) {
    context.beginPath();
    for (const [x, y] of path) context.lineTo(...toPixels(x, y));
    context.stroke();
  }
  const ticks = toTicks(picture.elements, time);
  for (const { index, path } of picture.bodies) {
    const [x, , z] = computePosition(picture.elements, index, time, ticks);
    context.beginPath();
    context.fillStyle = path.length ? "#d5dbe2" : "#ffd58a";
    context.arc(...toPixels(x, -z), (path.length ? 2.2 : 4) * ratio, 0, TURN);
    context.fill();
  }
}
