import type { Diagnostic } from "../data/api_types.ts";
import { JsonPositions } from "./json_positions.ts";

/** A correction of a text: replace [start, end) by `insert`. `shown` says what the text becomes. */
interface Correction {
  start: number;
  end: number;
  insert: string;
  shown: string;
}

const KEY_CODES = new Set(["unknown_key", "unknown_param"]);

/** Return the correction that the checker proposes for a finding, or undefined if a person has to decide. */
export function findCorrection(text: string, finding: Diagnostic): Correction | undefined {
  const positions = new JsonPositions(text);
  const position = positions.find(finding.path);
  const name = lastName(finding.path);
  if (!position) return finding.code === "missing_param" ? addParameter(text, positions, finding, name) : undefined;
  if (KEY_CODES.has(finding.code)) return renameKey(positions, finding, position.key);
  const given = readValue(text.slice(position.start, position.end));
  const template = typeof given === "string" ? replaceTemplate(given, finding) : undefined;
  const value = template ?? proposeValue(given, finding, name);
  if (value === undefined || JSON.stringify(value) === JSON.stringify(given)) return undefined;
  const insert = JSON.stringify(value);
  return { start: position.start, end: position.end, insert, shown: template ?? insert };
}

/** Return the text with a correction. */
export function applyCorrection(text: string, { start, end, insert }: Correction): string {
  return text.slice(0, start) + insert + text.slice(end);
}

function renameKey(
  positions: JsonPositions,
  finding: Diagnostic,
  key: { start: number; end: number } | undefined,
): Correction | undefined {
  const { nearest } = finding;
  if (!nearest || !key || positions.has(parentOf(finding.path), nearest)) return undefined;
  return { start: key.start, end: key.end, insert: JSON.stringify(nearest), shown: nearest };
}

/** The value of a template: the checker quotes the wrong one in its message and gives the right one as example. */
function replaceTemplate(given: string, finding: Diagnostic): string | undefined {
  const { example } = finding;
  if (typeof example !== "string" || !example.startsWith("${")) return undefined;
  const wrong = /`(\$\{[^`]*\})`/.exec(finding.message)?.[1] ?? findWrongTemplate(given, example, finding.available);
  return wrong && given.includes(wrong) ? given.replace(wrong, () => example) : undefined;
}

/** Return the template of the same node as the right one that is not among those available, if there is one. */
function findWrongTemplate(given: string, example: string, available: readonly string[] = []): string | undefined {
  const node = example.slice(0, example.indexOf(".") + 1);
  const found = given.match(/\$\{[^{}]*\}/g) ?? [];
  return node ? found.find((one) => one.startsWith(node) && !available.includes(one)) : undefined;
}

function proposeValue(given: unknown, finding: Diagnostic, name: string): unknown {
  const fromExample = readProperty(finding.example, name);
  if (finding.code === "bad_param" || finding.code === "bad_choice") return fromExample;
  if (typeof given === "string" && !given.includes("${") && finding.nearest) return finding.nearest;
  return undefined;
}

function addParameter(
  text: string,
  positions: JsonPositions,
  finding: Diagnostic,
  name: string,
): Correction | undefined {
  const value = readProperty(finding.example, name);
  if (value === undefined) return undefined;
  const member = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
  const params = positions.find(parentOf(finding.path));
  if (params) return addMember(text, params, member);
  const node = positions.find(parentOf(parentOf(finding.path)));
  return node && addMember(text, node, `"params": {${member}}`);
}

/** Add a member at the beginning of an object. */
function addMember(text: string, position: { start: number; end: number }, member: string): Correction | undefined {
  if (text[position.start] !== "{") return undefined;
  const isEmpty = text.slice(position.start + 1, position.end - 1).trim() === "";
  const at = position.start + 1;
  const lead = /^\s*/.exec(text.slice(at, position.end))?.[0] ?? "";
  return { start: at, end: at, insert: isEmpty ? member : `${lead}${member},`, shown: member };
}

function readProperty(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("."), 0));
}

function lastName(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}
