/** The canvas of a plot, drawn by uPlot. This module is loaded when a plot is shown. */
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Aligned, Curve } from "./curves.ts";

interface Look {
  ink: string;
  grid: string;
  colors: readonly string[];
}

interface PlotOptions {
  aligned: Aligned;
  curves: readonly Curve[];
  xLabel: string;
  range: readonly [number, number] | null;
  isAngle: boolean;
  /** Values that a horizontal line marks. */
  lines: readonly number[];
  /** Plots with the same key share their cursor. */
  syncKey: string;
  look: Look;
  /** Called with the place of the time under the cursor. */
  onCursor: (place: number) => void;
}

const HEIGHT = 240;
const ANGLE_STEPS = [15, 30, 45, 90, 180];
const FONT = "12px system-ui, sans-serif";

/** Draw a plot that fills the width of an element. */
export class PlotCanvas {
  private readonly plot: UPlot;
  private readonly observer: ResizeObserver;

  constructor(host: HTMLElement, options: PlotOptions) {
    const { aligned, curves, look } = options;
    const axis: UPlot.Axis = {
      stroke: look.ink,
      font: FONT,
      labelFont: FONT,
      grid: { stroke: look.grid, width: 1 },
      ticks: { stroke: look.grid, width: 1 },
    };
    this.plot = new UPlot(
      {
        width: Math.max(host.clientWidth, 100),
        height: HEIGHT,
        legend: { show: false },
        cursor: { sync: { key: options.syncKey }, drag: { x: true, y: false } },
        scales: { x: { time: false }, y: options.range ? { range: [...options.range] } : {} },
        axes: [
          { ...axis, label: options.xLabel, labelSize: 22 },
          { ...axis, size: 64, ...(options.isAngle ? { incrs: ANGLE_STEPS } : {}) },
        ],
        series: [
          {},
          ...curves.map((curve, index) => ({
            label: curve.name,
            stroke: look.colors[index] ?? look.ink,
            width: 1.4,
            ...(curve.isPoints ? { paths: () => null } : {}),
            points: { show: curve.isPoints, size: 3, fill: look.colors[index] ?? look.ink, width: 0 },
          })),
        ],
        hooks: {
          drawAxes: [(plot) => drawLines(plot, options.lines, look.ink)],
          setCursor: [
            (plot) => {
              if (typeof plot.cursor.idx === "number") options.onCursor(plot.cursor.idx);
            },
          ],
        },
      },
      [aligned.times, ...aligned.values] as UPlot.AlignedData,
      host,
    );
    this.observer = new ResizeObserver(() => {
      this.plot.setSize({ width: Math.max(host.clientWidth, 100), height: HEIGHT });
    });
    this.observer.observe(host);
  }

  /** Move the cursor to a time. */
  setCursor(time: number): void {
    const left = this.plot.valToPos(time, "x");
    this.plot.setCursor({ left, top: this.plot.over.clientHeight / 2 });
  }

  dispose(): void {
    this.observer.disconnect();
    this.plot.destroy();
  }
}

function drawLines(plot: UPlot, lines: readonly number[], color: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.setLineDash([4, 4]);
  for (const value of lines) {
    const y = plot.valToPos(value, "y", true);
    if (y < bbox.top || y > bbox.top + bbox.height) continue;
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  }
  ctx.restore();
}
