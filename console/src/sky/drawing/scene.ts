import {
  AddEquation,
  BufferGeometry,
  Camera,
  Color,
  CustomBlending,
  DataTexture,
  DoubleSide,
  FloatType,
  GLSL3,
  type IUniform,
  Matrix3,
  Mesh,
  NearestFilter,
  OneFactor,
  OneMinusSrcAlphaFactor,
  Points,
  RawShaderMaterial,
  RGBAFormat,
  RGBAIntegerFormat,
  Scene,
  UnsignedIntType,
  Vector2,
  Vector3,
  Vector4,
  WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import type { Cast } from "../bodies.ts";
import { type Elements, WORDS } from "../elements.ts";
import { type Point, toTicks } from "../motion.ts";
import type { Lens } from "./camera.ts";
import { makeCorners, makeDiscGeometry, makeRingGeometry } from "./geometries.ts";
import { fadeByDistance, fillOrbits, makeOrbitGeometry, moveOrbits, type OrbitAttributes } from "./orbit_lines.ts";
import {
  DISC_FRAGMENT,
  DISC_VERTEX,
  NIGHT_FRAGMENT,
  NIGHT_VERTEX,
  ORBIT_FRAGMENT,
  ORBIT_VERTEX,
  PICK_FRAGMENT,
  POINT_FRAGMENT,
  POINT_VERTEX,
  POSITION_FRAGMENT,
  POSITION_VERTEX,
  RING_FRAGMENT,
  RING_VERTEX,
  TRAIL_FRAGMENT,
  TRAIL_VERTEX,
} from "./shaders.ts";
import type { Tracker } from "./tracker.ts";
import { Trails } from "./trails.ts";

const TEXELS_PER_ROW = 4096; // four for each body
const KNOWN_PER_ROW = 256;
const KNOWN = 256;
const IS_DISC = 512;
const PICK_SIZE = 9;
const POINT_COLOR = "#b9ad98";
const ZONE_COLOR = "#5fae94";

/** What is drawn besides the bodies. */
interface FrameOptions {
  isReal: boolean;
  hasOrbits: boolean;
  hasTrails: boolean;
  /** Units of time that pass in a second. */
  speed: number;
  /** From 0, not at all, to 1. */
  zoneStrength: number;
}

/** A habitable zone: its star and four limits, from the innermost to the outermost. */
export interface Zone {
  star: number;
  limits: readonly [number, number, number, number];
}

/** The picture on a canvas. Everything that depends on the number of bodies is done once for a version. */
export class SkyScene {
  private readonly renderer: WebGLRenderer;
  private readonly camera = new Camera();
  private readonly uniforms: Record<string, IUniform> = {
    rotation: { value: new Matrix3() },
    lens: { value: new Vector4() },
    depthRange: { value: new Vector2() },
    logRadius: { value: new Vector2() },
    elements: { value: null },
    known: { value: null },
    ticks: { value: 0 },
    tickRest: { value: 0 },
    origin: { value: new Vector3() },
    focus: { value: -1 },
    light: { value: new Vector3() },
    pixelRatio: { value: 1 },
    isReal: { value: false },
    dot_: { value: new Vector2(2, 1) },
    width: { value: 1 },
    size: { value: new Vector2() },
    lift: { value: 0 },
    strength: { value: 1 },
    middle: { value: new Vector3() },
    first: { value: new Vector3() },
    second: { value: new Vector3() },
  };
  private readonly scene = new Scene();
  private readonly points = new Points(
    new BufferGeometry(),
    this.makeMaterial(POINT_VERTEX, POINT_FRAGMENT, POINT_COLOR),
  );
  private readonly discs = new Mesh(new BufferGeometry(), this.makeMaterial(DISC_VERTEX, DISC_FRAGMENT));
  private readonly orbits = new Mesh(new BufferGeometry(), this.makeMaterial(ORBIT_VERTEX, ORBIT_FRAGMENT));
  private readonly night = new Mesh(makeCorners(), this.makeMaterial(NIGHT_VERTEX, NIGHT_FRAGMENT));
  private readonly zone = new Mesh(new BufferGeometry(), this.makeMaterial(RING_VERTEX, RING_FRAGMENT, ZONE_COLOR));
  private readonly trails = new Trails(this.makeMaterial(TRAIL_VERTEX, TRAIL_FRAGMENT));
  private readonly meshes = [this.night, this.zone, this.orbits, this.trails.lines, this.points, this.discs];
  private readonly pickMaterial = this.makeMaterial(POINT_VERTEX, PICK_FRAGMENT);
  private readonly pickTarget = new WebGLRenderTarget(PICK_SIZE, PICK_SIZE, { depthBuffer: false });
  private known = new Float32Array();
  private elements: Elements | undefined;
  private tracker: Tracker | undefined;
  private orbitAttributes: OrbitAttributes | undefined;
  private zoneStar = -1;
  private star = -1;

  /** Throw an error if the browser cannot draw. */
  constructor(
    readonly canvas: HTMLCanvasElement,
    onRestored: () => void,
  ) {
    const context = canvas.getContext("webgl2", { antialias: false, alpha: false, powerPreference: "low-power" });
    if (!context) throw new Error("no WebGL 2");
    this.renderer = new WebGLRenderer({ canvas, context });
    this.renderer.setClearColor(new Color("#07090c"), 1);
    this.renderer.autoClear = true;
    canvas.addEventListener("webglcontextrestored", onRestored);
    for (const [order, mesh] of this.meshes.entries()) {
      mesh.frustumCulled = false;
      mesh.renderOrder = order;
      this.scene.add(mesh);
    }
    this.discs.material.depthTest = true;
    this.discs.material.depthWrite = true;
  }

  private makeMaterial(vertexShader: string, fragmentShader: string, color?: string): RawShaderMaterial {
    return new RawShaderMaterial({
      glslVersion: GLSL3,
      vertexShader,
      fragmentShader,
      uniforms: color
        ? { ...this.uniforms, color: { value: new Color().setStyle(color, "srgb-linear") } }
        : this.uniforms,
      side: DoubleSide,
      transparent: true,
      depthTest: false,
      depthWrite: false,
      blending: CustomBlending,
      blendEquation: AddEquation,
      blendSrc: OneFactor,
      blendDst: OneMinusSrcAlphaFactor,
    });
  }

  setSize(width: number, height: number, pixelRatio: number): void {
    this.renderer.setPixelRatio(pixelRatio);
    this.renderer.setSize(width, height, false);
    this.set("pixelRatio", pixelRatio);
  }

  private set(name: string, value: unknown): void {
    const uniform = this.uniforms[name];
    if (uniform) uniform.value = value;
  }

  private get<T>(name: string): T {
    return this.uniforms[name]?.value as T;
  }

  /** Upload the orbits of a version. */
  setBodies(elements: Elements, cast: Cast, tracker: Tracker): void {
    this.elements = elements;
    this.setTracker(tracker, cast);
    const count = elements.count;
    this.points.geometry.setDrawRange(0, count);
    // Many points are smaller and fainter, so that a belt does not hide what it surrounds.
    const crowd = Math.max(0, Math.log10(Math.max(count, 1)) - 2);
    this.get<Vector2>("dot_").set(Math.max(3.2 - crowd * 0.5, 1.7), Math.max(0.9 - crowd * 0.13, 0.4));
    this.discs.geometry.dispose();
    this.discs.geometry = makeDiscGeometry(cast.bodies);
    this.star = (cast.bodies.find((body) => body.type === "star") ?? cast.bodies[0])?.index ?? -1;
    this.orbits.geometry.dispose();
    const { geometry, attributes } = makeOrbitGeometry(cast.bodies.length);
    this.orbits.geometry = geometry;
    this.orbitAttributes = attributes;
    fillOrbits(attributes, elements, cast);
    this.trails.setBodies(cast.bodies);
  }

  /** Use another set of tracked bodies, and mark them in the orbits that the shaders read. */
  setTracker(tracker: Tracker, cast: Cast): void {
    const { elements } = this;
    if (!elements) return;
    this.tracker = tracker;
    const rows = Math.max(1, Math.ceil((elements.count * 4) / TEXELS_PER_ROW));
    const words = new Uint32Array(rows * TEXELS_PER_ROW * 4);
    words.set(elements.words);
    for (const [slot, index] of tracker.bodies.entries()) {
      if (!tracker.isKnown(index)) continue;
      words[index * WORDS + 2] = slot;
      words[index * WORDS + 14] = (words[index * WORDS + 14] ?? 0) | KNOWN;
    }
    for (const body of cast.bodies) {
      words[body.index * WORDS + 14] = (words[body.index * WORDS + 14] ?? 0) | IS_DISC;
    }
    this.get<DataTexture | null>("elements")?.dispose();
    const texture = new DataTexture(words, TEXELS_PER_ROW, rows, RGBAIntegerFormat, UnsignedIntType);
    texture.internalFormat = "RGBA32UI";
    texture.minFilter = NearestFilter;
    texture.magFilter = NearestFilter;
    texture.needsUpdate = true;
    this.set("elements", texture);
    const knownRows = Math.max(1, Math.ceil(tracker.bodies.length / KNOWN_PER_ROW));
    this.known = new Float32Array(knownRows * KNOWN_PER_ROW * 4);
    this.get<DataTexture | null>("known")?.dispose();
    const known = new DataTexture(this.known, KNOWN_PER_ROW, knownRows, RGBAFormat, FloatType);
    known.minFilter = NearestFilter;
    known.magFilter = NearestFilter;
    this.set("known", known);
  }

  setZone(zone: Zone | undefined, first: Readonly<Point>, second: Readonly<Point>): void {
    this.zoneStar = zone?.star ?? -1;
    this.get<Vector3>("first").set(...first);
    this.get<Vector3>("second").set(...second);
    if (!zone) return;
    this.zone.geometry.dispose();
    this.zone.geometry = makeRingGeometry(zone.limits);
  }

  /** Draw a frame. The tracker holds the positions of the time. */
  draw(time: number, lens: Lens, focus: number, options: FrameOptions): void {
    if (!this.elements || !this.tracker) return;
    this.place(time, lens, focus);
    this.set("isReal", options.isReal);
    this.set("width", 1.2 * this.renderer.getPixelRatio());
    this.orbits.visible = options.hasOrbits;
    this.trails.lines.visible = options.hasTrails;
    if (options.hasTrails) this.trails.update(this.tracker, focus, time, options.speed);
    this.zone.visible = options.zoneStrength > 0 && this.zoneStar >= 0;
    this.set("strength", options.zoneStrength);
    this.renderer.render(this.scene, this.camera);
  }

  private place(time: number, lens: Lens, focus: number): void {
    const { elements, tracker } = this;
    if (!elements || !tracker) return;
    const ticks = toTicks(elements, time);
    this.set("ticks", ticks.whole);
    this.set("tickRest", ticks.rest);
    this.set("focus", focus);
    const [a, b, c, d, e, f, g, h, i] = lens.rotation as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    this.get<Matrix3>("rotation").set(a, b, c, d, e, f, g, h, i);
    const halfHeight = (lens.height / 2) * this.renderer.getPixelRatio();
    this.get<Vector4>("lens").set(lens.focalX, lens.focalY, lens.distance, halfHeight);
    this.get<Vector2>("depthRange").set(lens.distance * 1e-6, Math.log(1e14));
    this.get<Vector2>("logRadius").set(lens.logStart, lens.logReach);
    this.set("lift", lens.lift);
    const centre: Point = [0, 0, 0];
    tracker.read(focus, centre);
    this.get<Vector3>("origin").set(-centre[0], -centre[1], -centre[2]);
    const { positions } = tracker;
    for (let slot = 0; slot < tracker.bodies.length; slot += 1) {
      for (let axis = 0; axis < 3; axis += 1) {
        this.known[slot * 4 + axis] = (positions[slot * 3 + axis] ?? 0) - (centre[axis] ?? 0);
      }
      this.known[slot * 4 + 3] = fadeByDistance(tracker, slot, centre, lens);
    }
    this.get<DataTexture>("known").needsUpdate = true;
    this.readRelative(this.star, centre, this.get<Vector3>("light"));
    this.readRelative(this.zoneStar, centre, this.get<Vector3>("middle"));
    if (this.orbitAttributes) moveOrbits(this.orbitAttributes, tracker, centre, lens);
  }

  private readRelative(index: number, centre: Readonly<Point>, out: Vector3): void {
    const point: Point = [0, 0, 0];
    if (this.tracker?.read(index, point)) out.set(point[0] - centre[0], point[1] - centre[1], point[2] - centre[2]);
  }

  /** Return the shapes of the orbits that are drawn. */
  get drawnOrbits(): OrbitAttributes | undefined {
    return this.orbitAttributes;
  }

  /** Return the index of the body that is drawn as a point nearest to a place on the screen, or -1. */
  async pick(x: number, y: number, width: number, height: number): Promise<number> {
    const ratio = this.renderer.getPixelRatio();
    const half = (PICK_SIZE - 1) / 2;
    const scratch = new Scene();
    const targets = new Points(this.points.geometry, this.pickMaterial);
    targets.frustumCulled = false;
    scratch.add(targets);
    // The viewport is the whole picture, moved so that the place is in the middle of the small target.
    const target = this.pickTarget;
    target.viewport.set(half - x * ratio, half - (height - y) * ratio, width * ratio, height * ratio);
    this.renderer.setRenderTarget(target);
    this.renderer.setClearColor(0x000000, 0);
    this.renderer.render(scratch, this.camera);
    this.renderer.setClearColor(new Color("#07090c"), 1);
    this.renderer.setRenderTarget(null);
    const pixels = new Uint8Array(PICK_SIZE * PICK_SIZE * 4);
    await this.renderer.readRenderTargetPixelsAsync(target, 0, 0, PICK_SIZE, PICK_SIZE, pixels);
    let best = -1;
    let nearest = Number.POSITIVE_INFINITY;
    for (let at = 0; at < PICK_SIZE * PICK_SIZE; at += 1) {
      const id = (pixels[at * 4] ?? 0) + (pixels[at * 4 + 1] ?? 0) * 256 + (pixels[at * 4 + 2] ?? 0) * 65_536;
      const distance = Math.hypot((at % PICK_SIZE) - half, Math.floor(at / PICK_SIZE) - half);
      if (id && distance < nearest) {
        nearest = distance;
        best = id - 1;
      }
    }
    return best;
  }

  /** Return the positions of all bodies relative to the followed one as the shaders compute them. */
  readPositions(time: number, lens: Lens, focus: number): Float32Array {
    const count = this.elements?.count ?? 0;
    this.place(time, lens, focus);
    const width = Math.min(Math.max(count, 1), 1024);
    const height = Math.max(1, Math.ceil(count / width));
    this.get<Vector2>("size").set(width, height);
    const target = new WebGLRenderTarget(width, height, {
      type: FloatType,
      minFilter: NearestFilter,
      magFilter: NearestFilter,
      depthBuffer: false,
    });
    const material = this.makeMaterial(POSITION_VERTEX, POSITION_FRAGMENT);
    const scratch = new Scene();
    const targets = new Points(this.points.geometry, material);
    targets.frustumCulled = false;
    scratch.add(targets);
    this.renderer.setRenderTarget(target);
    this.renderer.render(scratch, this.camera);
    this.renderer.setRenderTarget(null);
    const pixels = new Float32Array(width * height * 4);
    this.renderer.readRenderTargetPixels(target, 0, 0, width, height, pixels);
    target.dispose();
    material.dispose();
    const result = new Float32Array(count * 3);
    for (let index = 0; index < count; index += 1) {
      result.set(pixels.subarray(index * 4, index * 4 + 3), index * 3);
    }
    return result;
  }

  dispose(): void {
    this.get<DataTexture | null>("elements")?.dispose();
    this.get<DataTexture | null>("known")?.dispose();
    for (const mesh of this.meshes) {
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    this.pickMaterial.dispose();
    this.pickTarget.dispose();
    this.renderer.dispose();
  }
}
