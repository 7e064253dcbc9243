import { useId } from "preact/hooks";
import { TextField } from "../common/controls.tsx";
import { universeTexts } from "./strings.ts";

const texts = universeTexts.universe;
const DEPTH = 3;

/** A field of a command, as the catalogue describes it. */
interface FieldSchema {
  type: string;
  description?: string;
  required?: boolean;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  fields?: Record<string, FieldSchema>;
}

/** A command, as the catalogue describes it. */
export interface CommandSchema {
  type: string;
  description?: string;
  fields: Record<string, FieldSchema>;
}

/** A field with its path, such as `payload.kepler.period`. */
export interface Field {
  path: string;
  schema: FieldSchema;
  isRequired: boolean;
}

/** Return the fields of a command in one list: an object is replaced by its fields, as far as a form goes. */
export function flattenFields(fields: Record<string, FieldSchema>, prefix = "", depth = 1, isInside = true): Field[] {
  return Object.entries(fields).flatMap(([name, schema]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    const isRequired = isInside && (schema.required ?? false);
    if (schema.fields && depth < DEPTH) return flattenFields(schema.fields, path, depth + 1, isRequired);
    return [{ path, schema, isRequired }];
  });
}

/** Return the problems of all fields at once: a missing value, or text where a number belongs. */
export function findProblems(fields: readonly Field[], given: Record<string, string>): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const { path, schema, isRequired } of fields) {
    const text = (given[path] ?? "").trim();
    if (!text) {
      if (isRequired) problems[path] = texts.required;
    } else if (isNumber(schema)) {
      const value = Number(text);
      if (!Number.isFinite(value)) problems[path] = texts.notNumber;
      else if (schema.minimum !== undefined && value < schema.minimum) problems[path] = texts.below(schema.minimum);
      else if (schema.maximum !== undefined && value > schema.maximum) problems[path] = texts.above(schema.maximum);
    }
  }
  return problems;
}

/** Return the command with the values that were given. */
export function makeCommand(type: string, fields: readonly Field[], given: Record<string, string>): object {
  const command: Record<string, unknown> = { type };
  for (const { path, schema } of fields) {
    const text = (given[path] ?? "").trim();
    if (!text) continue;
    const names = path.split(".");
    const last = names.pop() ?? "";
    let inside = command;
    for (const name of names) {
      inside[name] ??= {};
      inside = inside[name] as Record<string, unknown>;
    }
    inside[last] = readValue(schema, text);
  }
  if (fields.some(({ path }) => path.startsWith("payload."))) command.payload ??= {};
  return command;
}

function isNumber(schema: FieldSchema): boolean {
  return /^(number|integer)( or null)?$/.test(schema.type);
}

function readValue(schema: FieldSchema, text: string): unknown {
  if (isNumber(schema)) return Number(text);
  if (schema.type.startsWith("boolean")) return text === "true";
  if (schema.type.startsWith("string") || schema.type.startsWith('"')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // the server says what is wrong with it
  }
}

/** A field of the form, with its type and what the schema says about it. */
export function CommandField(props: {
  field: Field;
  value: string;
  /** The present value with its unit, if the body has one. */
  now: string | undefined;
  problem: string | undefined;
  onInput: (text: string) => void;
}) {
  const { field, value, now, problem, onInput } = props;
  const id = useId();
  const { schema } = field;
  const label = `${field.path.replace(/^payload\./, "")}${field.isRequired ? ` (${texts.requiredMark})` : ""}`;
  const quoted = [...schema.type.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? "");
  const choices = schema.type.startsWith("boolean") ? ["true", "false"] : quoted;
  const hint = [now && texts.now(now), schema.description, choices.length ? "" : schema.type]
    .filter(Boolean)
    .join(" · ");
  if (!choices.length) {
    return <TextField label={label} value={value} onInput={onInput} problem={problem} hint={hint} isMono />;
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
        <option value="" />
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
      {(problem ?? hint) && <p class={problem ? "problem" : "hint"}>{problem ?? hint}</p>}
    </div>
  );
}
