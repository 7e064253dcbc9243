import { useState } from "preact/hooks";
import { api } from "../api.ts";
import { type ApiError, toApiError } from "../api_error.ts";
import type { UniverseCommandList } from "../api_types.ts";
import { Button } from "../components/controls.tsx";
import { Loaded } from "../components/states.tsx";
import { showToast } from "../components/toasts.tsx";
import { useResource } from "../resource.ts";
import { strings } from "../strings.ts";
import {
  CommandField,
  type Field,
  type FieldSchema,
  findProblems,
  flattenFields,
  makeCommand,
} from "./command_fields.tsx";
import { formatValue, type Value } from "./values.ts";

const texts = strings.universe;

interface CommandSchema {
  type: string;
  description?: string;
  fields: Record<string, FieldSchema>;
}

/** Send a command: a form made from its schema. The log shows who sent it. */
export function CommandPanel({ universe, body }: { universe: string; body: string | undefined }) {
  const commands = useResource("commands", (signal) => api.get("/api/commands", { signal }));
  return (
    <section class="panel-section" aria-label={texts.tabs.commands}>
      <Loaded resource={commands}>{(list) => <CommandForm universe={universe} body={body} list={list} />}</Loaded>
    </section>
  );
}

function CommandForm(props: { universe: string; body: string | undefined; list: UniverseCommandList }) {
  const { universe, body, list } = props;
  const [type, setType] = useState("updateStar");
  const [values, setValues] = useState<Record<string, string>>({});
  const [problems, setProblems] = useState<Record<string, string>>({});
  const [error, setError] = useState<ApiError>();
  const [warnings, setWarnings] = useState<string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const now = useResource(
    `values now ${universe} ${body}`,
    async (signal) => (body === undefined ? {} : await loadPresentValues(universe, body, signal)),
    (change) => change.kind === "universe" && change.subject === universe,
  );
  const commands = list.categories.flatMap((category) => category.commands as unknown as CommandSchema[]);
  const command = commands.find((one) => one.type === type);
  const fields = command ? flattenFields(command.fields) : [];
  const given = { ...(fields.some((one) => one.path === "id") && body ? { id: body } : {}), ...values };

  const shown = fields.filter(isMain);
  const hidden = fields.filter((field) => !isMain(field));
  const renderField = (field: Field) => (
    <CommandField
      key={`${type} ${field.path}`}
      field={field}
      value={given[field.path as keyof typeof given] ?? ""}
      now={now.value.value?.[field.path.replace(/^payload\./, "")]}
      problem={problems[field.path]}
      onInput={(text) => setValues({ ...values, [field.path]: text })}
    />
  );

  async function send(): Promise<void> {
    if (isBusy) return;
    setError(undefined);
    setWarnings([]);
    const found = findProblems(fields, given);
    setProblems(found);
    if (Object.keys(found).length) return;
    setBusy(true);
    try {
      const reply = (await api.post("/api/universes/{universe_id}/commands", {
        path: { universe_id: universe },
        query: { return: "events" },
        body: makeCommand(type, fields, given) as never,
      })) as { version?: number; warnings?: string[] };
      showToast(texts.sent(type, reply.version ?? 0));
      setWarnings(reply.warnings ?? []);
      setValues({});
    } catch (thrown) {
      const refused = toApiError(thrown);
      setError(refused);
      setProblems(readProblems(refused));
    }
    setBusy(false);
  }

  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div class="field">
        <label for="command-type">{texts.commandType}</label>
        <select
          id="command-type"
          value={type}
          onChange={(event) => {
            setType(event.currentTarget.value);
            setValues({});
            setProblems({});
            setError(undefined);
          }}
        >
          {list.categories.map((category) => (
            <optgroup key={category.slug} label={category.name}>
              {(category.commands as unknown as CommandSchema[]).map((one) => (
                <option key={one.type} value={one.type}>
                  {one.type}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        {command?.description && <p class="hint">{command.description}</p>}
      </div>
      {error && (
        <p class="note no" role="alert">
          <strong>{error.message}</strong> {error.hint}
        </p>
      )}
      {warnings.map((warning) => (
        <p key={warning} class="note-box small" dir="auto">
          {warning}
        </p>
      ))}
      <div class="command-fields">
        {shown.map(renderField)}
        {hidden.length > 0 && (
          <details open={hidden.some((field) => problems[field.path])}>
            <summary>{texts.moreFields(hidden.length)}</summary>
            <div>{hidden.map(renderField)}</div>
          </details>
        )}
      </div>
      <Button kind="primary" type="submit" isBusy={isBusy}>
        {texts.send}
      </Button>
    </form>
  );
}

const MAIN = ["payload.name", "payload.mass", "payload.radius", "payload.color", "payload.parentId"];

function isMain(field: Field): boolean {
  return field.isRequired || !field.path.startsWith("payload.") || MAIN.includes(field.path);
}

/** Return the values of a body with their units, by field. */
async function loadPresentValues(universe: string, body: string, signal: AbortSignal): Promise<Record<string, string>> {
  const path = { universe_id: universe };
  const reply = (await api.get("/api/universes/{universe_id}/cite", { path, query: { body }, signal })) as {
    fields: Record<string, Value>;
  };
  return Object.fromEntries(
    Object.entries(reply.fields).map(([field, { value, unit }]) => [field, formatValue(value, unit)]),
  );
}

/** Return the problems of a refused command by field: the server names one, or all. */
function readProblems(error: ApiError): Record<string, string> {
  const { path, problems, allowed } = error.facts;
  const listed = (problems ?? []) as { path: string; problem: string }[];
  if (!listed.length && typeof path === "string") return { [path]: String(allowed ?? error.message) };
  return Object.fromEntries(listed.map((one) => [one.path, one.problem]));
}
