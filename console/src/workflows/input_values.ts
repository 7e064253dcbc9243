import type { InputDeclaration, TemplateVariable } from "../data/api_types.ts";
import { workflowTexts } from "./strings.ts";

/** An input of the form of a run. */
export interface InputField {
  name: string;
  type: string;
  isRequired: boolean;
  isSecret: boolean;
  description: string;
  hasDefault: boolean;
  defaultText: string;
}

const STRUCTURED = new Set(["object", "array"]);
const MASK = "***";

/** Return the fields of a form: the declared inputs, and variables that the workflow uses without declaring them. */
export function listFields(
  inputs: Record<string, InputDeclaration>,
  variables: readonly TemplateVariable[],
): readonly InputField[] {
  const declared = Object.entries(inputs).map(([name, input]) => ({
    name,
    type: input.type,
    isRequired: input.required && !("default" in input),
    isSecret: input.secret ?? false,
    description: input.description ?? "",
    hasDefault: "default" in input && input.default !== null,
    defaultText: input.secret ? "" : formatFieldText(input.default),
  }));
  const others = variables
    .filter((variable) => !variable.declared)
    .map((variable) => ({
      name: variable.name,
      type: "any",
      isRequired: variable.required,
      isSecret: false,
      description: "",
      hasDefault: false,
      defaultText: "",
    }));
  return [...declared, ...others];
}

/** Return a value as the text of a field. */
export function formatFieldText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, typeof value === "object" ? 2 : undefined);
}

/** Return the texts of the fields for the inputs of an earlier run; secrets and long values have to be given again. */
export function toTexts(inputs: unknown): Record<string, string> {
  if (typeof inputs !== "object" || inputs === null) return {};
  if ("beginning" in inputs && "characters" in inputs) return {};
  const entries = Object.entries(inputs).filter(([, value]) => !formatFieldText(value).includes(MASK));
  return Object.fromEntries(entries.map(([name, value]) => [name, formatFieldText(value)]));
}

/** Return the texts of fields that were stored as JSON; none if the JSON is damaged. */
export function parseTexts(json: string): Record<string, string> {
  const parsed = parse(json);
  const entries = isObject(parsed) ? Object.entries(parsed as Record<string, string>) : [];
  return Object.fromEntries(entries.filter(([, text]) => typeof text === "string"));
}

/** Split the texts of fields into those that may be stored, and secrets. */
export function splitSecrets(
  fields: readonly InputField[],
  texts: Record<string, string>,
): { plain: Record<string, string>; secret: Record<string, string> } {
  const secrets = new Set(fields.filter((field) => field.isSecret).map((field) => field.name));
  const entries = Object.entries(texts);
  return {
    plain: Object.fromEntries(entries.filter(([name]) => !secrets.has(name))),
    secret: Object.fromEntries(entries.filter(([name]) => secrets.has(name))),
  };
}

/** Return the names of inputs of an earlier run that are not stored: secrets and long values. */
export function listForgotten(inputs: unknown): readonly string[] {
  if (typeof inputs !== "object" || inputs === null) return [];
  const kept = new Set(Object.keys(toTexts(inputs)));
  return Object.keys(inputs).filter((name) => !kept.has(name));
}

interface ReadInputs {
  values: Record<string, unknown>;
  problems: Record<string, string>;
}

/** Return the values of the fields, and what is wrong with them. A field that is left empty is not sent. */
export function readInputs(fields: readonly InputField[], texts: Record<string, string>): ReadInputs {
  const values: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? "";
    if (text === "") {
      if (field.isRequired) problems[field.name] = workflowTexts.required;
      continue;
    }
    const read = readText(field.type, text);
    if (read === undefined) problems[field.name] = workflowTexts.wrongTypes[field.type] ?? workflowTexts.wrongType;
    else values[field.name] = read.value;
  }
  return { values, problems };
}

function readText(type: string, text: string): { value: unknown } | undefined {
  if (type === "string") return { value: text };
  if (type === "boolean") return text === "true" || text === "false" ? { value: text === "true" } : undefined;
  if (type === "number" || type === "integer") {
    const number = Number(text.trim());
    const isFit = text.trim() !== "" && Number.isFinite(number) && (type === "number" || Number.isInteger(number));
    return isFit ? { value: number } : undefined;
  }
  const parsed = parse(text);
  if (!STRUCTURED.has(type)) return { value: parsed === undefined ? text : parsed };
  const isFit = type === "array" ? Array.isArray(parsed) : isObject(parsed);
  return isFit ? { value: parsed } : undefined;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
