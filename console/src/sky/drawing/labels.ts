import type { Body, Cast } from "../bodies.ts";
import type { Point } from "../motion.ts";
import { type Lens, pixelsPerUnit, project } from "./camera.ts";
import { getReadableRadius } from "./geometries.ts";
import { fadeByDistance } from "./orbit_lines.ts";
import type { Tracker } from "./tracker.ts";

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Label {
  body: Body;
  element: HTMLElement;
  width: number;
  side: number;
  isShown: boolean;
}

/** The place of a body on the screen, in pixels. */
export interface Place {
  x: number;
  y: number;
  radius: number;
  depth: number;
}

const MOST_SHOWN = 40;
const HEIGHT = 18;
const GAP = 5;
const RING_GAP = 10;
const VISIBLE = 0.5;

function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** The names beside the bodies. A name that would cover another one is left out; the less important one yields. */
export class Labels {
  private labels: Label[] = [];
  /** Where the bodies of the last frame are, by id. */
  readonly places = new Map<string, Place>();

  constructor(
    private readonly layer: HTMLElement,
    private readonly ring: HTMLElement,
    private readonly onSelect: (id: string) => void,
  ) {}

  setBodies(cast: Cast): void {
    this.layer.replaceChildren();
    this.labels = cast.bodies.map((body) => {
      const element = document.createElement("span");
      element.className = `sky-label${body.depth > 1 ? " minor" : ""}`;
      element.textContent = body.name;
      element.dir = "auto";
      element.addEventListener("click", () => this.onSelect(body.id));
      this.layer.append(element);
      return { body, element, width: 0, side: 0, isShown: false };
    });
    for (const label of this.labels) label.width = Math.min(label.element.offsetWidth, 220);
    for (const label of this.labels) label.element.hidden = true;
  }

  /** Place the names for a frame. */
  place(tracker: Tracker, focus: number, lens: Lens, isReal: boolean, hasLabels: boolean, selected?: string): void {
    this.places.clear();
    const centre: Point = [0, 0, 0];
    tracker.read(focus, centre);
    const seen: { label: Label; place: Place; order: number }[] = [];
    const point: Point = [0, 0, 0];
    for (const label of this.labels) {
      const { body } = label;
      const slot = tracker.slots.get(body.index);
      if (slot === undefined || !tracker.read(body.index, point)) continue;
      for (let axis = 0; axis < 3; axis += 1) point[axis] = (point[axis] ?? 0) - (centre[axis] ?? 0);
      const { x, y, depth } = project(lens, point);
      if (!(depth > 0) || !Number.isFinite(x + y)) continue;
      const real = lens.logStart ? 0 : body.radius * pixelsPerUnit(lens, depth);
      const place = { x, y, depth, radius: Math.max(isReal ? 1 : getReadableRadius(body), real) };
      this.places.set(body.id, place);
      if (x < 0 || y < 0 || x > lens.width || y > lens.height) continue;
      const isChosen = body.id === selected || body.index === focus;
      if (!isChosen && fadeByDistance(tracker, slot, centre, lens) < VISIBLE) continue;
      seen.push({ label, place, order: body.id === selected ? -2 : isChosen ? -1 : body.rank });
    }
    seen.sort((a, b) => a.order - b.order);
    const taken: Box[] = [];
    const discs = seen.slice(0, MOST_SHOWN * 2).map(({ place: { x, y, radius } }) => ({
      left: x - radius,
      right: x + radius,
      top: y - radius,
      bottom: y + radius,
    }));
    const shown = new Set<Label>();
    for (const [order, { label, place }] of seen.entries()) {
      if (!hasLabels || shown.size >= MOST_SHOWN || place.radius > lens.height / 2) break;
      const isSelected = label.body.id === selected;
      const others = discs.filter((_, index) => index !== order);
      const sides = [label.side, ...[0, 1, 2, 3].filter((side) => side !== label.side)];
      for (const side of sides) {
        const box = makeBox(place, label.width + (isSelected ? 4 : 0), side, isSelected ? RING_GAP : GAP);
        if (box.left < 4 || box.right > lens.width - 4 || box.top < 4 || box.bottom > lens.height - 4) continue;
        if (taken.some((one) => overlaps(one, box)) || others.some((one) => overlaps(one, box))) continue;
        taken.push(box);
        shown.add(label);
        label.side = side;
        label.element.style.transform = `translate(${box.left.toFixed(1)}px, ${box.top.toFixed(1)}px)`;
        break;
      }
    }
    for (const label of this.labels) {
      const isShown = shown.has(label);
      if (isShown !== label.isShown) label.element.hidden = !isShown;
      label.isShown = isShown;
      label.element.classList.toggle("selected", isShown && label.body.id === selected);
    }
    this.placeRing(selected === undefined ? undefined : this.places.get(selected));
  }

  /** Draw a ring about the selected body. */
  placeRing(place: Place | undefined): void {
    this.ring.hidden = !place;
    if (!place) return;
    const size = Math.min(place.radius, 4_000) * 2 + 12;
    this.ring.style.width = `${size}px`;
    this.ring.style.height = `${size}px`;
    this.ring.style.transform = `translate(${(place.x - size / 2).toFixed(1)}px, ${(place.y - size / 2).toFixed(1)}px)`;
  }
}

/** Return the box of a name right of, left of, above or below its body. */
function makeBox({ x, y, radius }: Place, width: number, side: number, gap: number): Box {
  const beside = radius + gap;
  let left = x - width / 2;
  let top = y - HEIGHT / 2;
  if (side === 0) left = x + beside;
  if (side === 1) left = x - beside - width;
  if (side === 2) top = y - beside - HEIGHT;
  if (side === 3) top = y + beside;
  return { left, top, right: left + width, bottom: top + HEIGHT };
}
