import type { Signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Loaded } from "../common/states.tsx";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { ApiError } from "../data/api_error.ts";
import type { UniverseCommandList } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import {
  CommandField,
  type CommandSchema,
  type Field,
  findProblems,
  flattenFields,
  makeCommand,
} from "./command_fields.tsx";
import { MassNote } from "./mass_note.tsx";
import type { CommandDraft } from "./panel_state.ts";
import { universeTexts } from "./strings.ts";
import { formatQuantity, type Value } from "./value_origins.ts";

const texts = universeTexts.universe;

interface CommandPanelProps {
  universe: string;
  body: string | undefined;
  draft: Signal<CommandDraft>;
}

/** Use the commands that there are. */
export function useCommands() {
  return useResource("commands", (signal) => api.get("/api/commands", { signal }));
}

/** Return all commands of the catalogue. */
export function listCommands(list: UniverseCommandList | undefined): CommandSchema[] {
  return (list?.categories ?? []).flatMap((category) => category.commands);
}

/** Send a command: a form made from its schema. The log shows who sent it. */
export function CommandPanel(props: CommandPanelProps) {
  const commands = useCommands();
  const [sent, setSent] = useState<{ count: number; warnings: string[] }>({ count: 0, warnings: [] });
  return (
    <section class="panel-section" aria-label={texts.tabs.commands}>
      {sent.warnings.map((warning) => (
        <p key={warning} class="note-box small" dir="auto">
          {warning}
        </p>
      ))}
      <Loaded resource={commands}>
        {(list) => (
          <CommandForm
            key={`${props.draft.value.type} ${sent.count}`}
            {...props}
            list={list}
            onSent={(warnings) => setSent({ count: sent.count + 1, warnings })}
          />
        )}
      </Loaded>
    </section>
  );
}

function CommandForm(props: CommandPanelProps & { list: UniverseCommandList; onSent: (warnings: string[]) => void }) {
  const { universe, body, list, draft } = props;
  const { type, field: first } = draft.value;
  const inputs = useRef<HTMLDivElement>(null);
  const [values, setValues] = useState<Record<string, string>>({});
  const now = useResource(
    `values now ${universe} ${body}`,
    async (signal) => (body === undefined ? {} : await loadPresentValues(universe, body, signal)),
    (change) => change.kind === "universe" && change.subject === universe,
  );
  const command = listCommands(list).find((one) => one.type === type);
  const fields = command ? flattenFields(command.fields) : [];
  const given: Record<string, string> = {
    ...(fields.some((one) => one.path === "id") && body ? { id: body } : {}),
    ...values,
  };
  const submission = useSubmission(findProblems(fields, given));
  const problems = { ...(submission.error ? readProblems(submission.error) : {}), ...submission.problems };

  const shown = fields.filter(isMain);
  const hidden = fields.filter((field) => !isMain(field));
  const renderField = (field: Field) => (
    <div key={`${type} ${field.path}`} data-field={field.path}>
      <CommandField
        field={field}
        value={given[field.path] ?? ""}
        now={now.value.value?.[field.path.replace(/^payload\./, "")]}
        problem={problems[field.path]}
        onInput={(text) => setValues({ ...values, [field.path]: text })}
      />
      {field.path === "payload.mass" && (
        <MassNote
          universe={universe}
          text={given[field.path] ?? ""}
          body={type === "addStar" ? undefined : given.id}
          parent={given["payload.parentId"]}
        />
      )}
    </div>
  );

  useEffect(() => {
    const input = `[data-field="${CSS.escape(first ?? "")}"] :is(input, select)`;
    if (first) inputs.current?.querySelector<HTMLElement>(input)?.focus();
  }, [draft.value]);

  async function send(): Promise<void> {
    const reply = await api.post("/api/universes/{universe_id}/commands", {
      path: { universe_id: universe },
      query: { return: "events" },
      body: makeCommand(type, fields, given) as never,
    });
    showToast(texts.sent(type, reply.version ?? 0));
    props.onSent(reply.warnings ?? []);
  }

  return (
    <SubmitForm submission={submission} action={texts.send} onSubmit={send}>
      <div class="field">
        <label for="command-type">{texts.commandType}</label>
        <select
          id="command-type"
          value={type}
          onChange={(event) => {
            draft.value = { type: event.currentTarget.value };
          }}
        >
          {list.categories.map((category) => (
            <optgroup key={category.slug} label={category.name}>
              {category.commands.map((one) => (
                <option key={one.type} value={one.type}>
                  {one.type}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        {command?.description && <p class="hint">{command.description}</p>}
      </div>
      <div class="command-fields" ref={inputs}>
        {shown.map(renderField)}
        {hidden.length > 0 && (
          <details open={hidden.some((field) => problems[field.path] || field.path === first)}>
            <summary>{texts.moreFields(hidden.length)}</summary>
            <div>{hidden.map(renderField)}</div>
          </details>
        )}
      </div>
    </SubmitForm>
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
    Object.entries(reply.fields).map(([field, { value, unit }]) => [field, formatQuantity(value, unit)]),
  );
}

/** Return the problems of a refused command by field: the server names one, or all. */
function readProblems(error: ApiError): Record<string, string> {
  const { path, problems, allowed } = error.facts;
  const listed = (problems ?? []) as { path: string; problem: string }[];
  if (!listed.length && typeof path === "string") return { [path]: String(allowed ?? error.message) };
  return Object.fromEntries(listed.map((one) => [one.path, one.problem]));
}
