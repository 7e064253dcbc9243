/** A universe as a glTF model. This module is loaded when a model is saved. */
import {
  BufferGeometry,
  Float32BufferAttribute,
  Group,
  Line,
  Mesh,
  MeshBasicMaterial,
  Points,
  SphereGeometry,
} from "three";
import { GLTFExporter } from "three/examples/jsm/exporters/GLTFExporter.js";
import type { Body, Cast } from "../bodies.ts";
import { type Elements, getFlags, NO_POSITION } from "../elements.ts";
import { computePosition, type Point } from "../motion.ts";
import type { OrbitAttributes } from "./orbit_lines.ts";
import { listOrbitPoints } from "./orbit_lines.ts";

/** The radius of a star in the model, as a part of the size of all orbits; planets are smaller. */
const STAR_SIZE = 0.02;
const PLANET_SIZE = 0.008;

interface ModelSource {
  elements: Elements;
  cast: Cast;
  time: number;
  /** The index of the body at the origin. */
  focus: number;
  /** The size of the orbits. */
  reach: number;
  orbits: OrbitAttributes | undefined;
  /** Positions as the picture has them, such as those of an N-body run; false for a body that it does not track. */
  read: (index: number, out: Point) => boolean;
}

/** Return a binary glTF: a sphere for each body with a name, points for the others, and the orbits as lines. */
export async function makeModel(source: ModelSource): Promise<Blob> {
  const { elements, cast, time } = source;
  const centre = readPlace(source, source.focus);
  const find = (index: number): Point => {
    const [x, y, z] = readPlace(source, index);
    return mirror([x - centre[0], y - centre[1], z - centre[2]]);
  };
  const model = new Group();
  model.name = cast.name;
  model.userData = { universeVersion: elements.version, time, unit: cast.isAstronomical ? "AU" : "scene" };
  for (const body of cast.bodies) model.add(makeSphere(body, find(body.index), source.reach));
  const rest: number[] = [];
  for (let index = 0; index < elements.count; index += 1) {
    if (!cast.byIndex.has(index) && !(getFlags(elements, index) & NO_POSITION)) rest.push(...find(index));
  }
  if (rest.length) model.add(new Points(makeGeometry(rest), new MeshBasicMaterial({ color: "#b9ad98" })));
  for (const [place, body] of (source.orbits?.bodies ?? []).entries()) {
    const parent: Point = body.parent < 0 ? [0, 0, 0] : find(body.parent);
    const points = listOrbitPoints(source.orbits as OrbitAttributes, place).flatMap((point) => {
      const [x, y, z] = mirror(point);
      return [x + parent[0], y + parent[1], z + parent[2]];
    });
    const line = new Line(makeGeometry(points), new MeshBasicMaterial({ color: body.color }));
    line.name = body.name;
    model.add(line);
  }
  const bytes = await new GLTFExporter().parseAsync(model, { binary: true });
  return new Blob([bytes as ArrayBuffer], { type: "model/gltf-binary" });
}

function readPlace(source: ModelSource, index: number): Point {
  const point: Point = [0, 0, 0];
  return source.read(index, point) ? point : computePosition(source.elements, index, source.time);
}

/** Return a point of the API's scene in the right-handed frame of glTF. */
function mirror([x, y, z]: Readonly<Point>): Point {
  return [x, y, -z];
}

function makeSphere(body: Body, place: Point, reach: number): Mesh {
  const size = reach * (body.type === "star" ? STAR_SIZE : PLANET_SIZE);
  const mesh = new Mesh(
    new SphereGeometry(Math.max(size, body.radius), 24, 16),
    new MeshBasicMaterial({ color: body.color }),
  );
  mesh.name = body.name;
  mesh.position.set(...place);
  mesh.userData = { id: body.id, type: body.type, trueRadius: body.radius };
  return mesh;
}

function makeGeometry(points: readonly number[]): BufferGeometry {
  return new BufferGeometry().setAttribute("position", new Float32BufferAttribute(points, 3));
}
