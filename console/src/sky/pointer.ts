import type { Signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import type { SkyRunner } from "./drawing/runner.ts";

const RADIANS_PER_PIXEL = 0.005;
const CLICK_PIXELS = 4;

/** Turn the sky by dragging, zoom by the wheel or two fingers, and select by a click. */
export function usePointer(canvas: RefObject<HTMLCanvasElement | null>, runner: Signal<SkyRunner | undefined>): void {
  useEffect(() => {
    const target = canvas.current;
    if (!target) return undefined;
    const pointers = new Map<number, { x: number; y: number }>();
    let moved = 0;
    const spread = () => {
      const [a, b] = [...pointers.values()];
      return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
    };
    const down = (event: PointerEvent) => {
      if (event.button !== 0) return;
      target.setPointerCapture(event.pointerId);
      if (pointers.size === 0) moved = 0;
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    };
    const move = (event: PointerEvent) => {
      const last = pointers.get(event.pointerId);
      if (!last) return;
      const before = spread();
      const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      moved += Math.abs(dx) + Math.abs(dy);
      if (pointers.size === 1) runner.peek()?.turn(-dx * RADIANS_PER_PIXEL, dy * RADIANS_PER_PIXEL);
      else if (before > 0 && spread() > 0) runner.peek()?.zoom(before / spread());
    };
    const up = (event: PointerEvent) => {
      const wasOnly = pointers.size === 1;
      if (!pointers.delete(event.pointerId) || event.type === "pointercancel") return;
      const box = target.getBoundingClientRect();
      if (wasOnly && moved < CLICK_PIXELS) {
        void runner.peek()?.selectAt(event.clientX - box.left, event.clientY - box.top);
      }
    };
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : 1;
      runner.peek()?.zoom(Math.exp(Math.min(Math.max(event.deltaY * lines, -300), 300) * 0.0015));
    };
    target.addEventListener("pointerdown", down);
    target.addEventListener("pointermove", move);
    target.addEventListener("pointerup", up);
    target.addEventListener("pointercancel", up);
    target.addEventListener("wheel", wheel, { passive: false });
    return () => {
      target.removeEventListener("pointerdown", down);
      target.removeEventListener("pointermove", move);
      target.removeEventListener("pointerup", up);
      target.removeEventListener("pointercancel", up);
      target.removeEventListener("wheel", wheel);
    };
  }, []);
}
