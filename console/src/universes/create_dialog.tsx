import { useState } from "preact/hooks";
import { Checkbox, Choices, Select, TextField } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { Loaded } from "../common/states.tsx";
import { type Problems, SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { api } from "../data/api.ts";
import type { UniverseOriginList } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { formatPath, navigate } from "../data/router.ts";
import { type Imported, ImportReport, importFiles, type SkippedRow, SkippedRows } from "./file_import.tsx";
import { checkSetting, readSetting, type Setting, SettingField } from "./setting_field.tsx";
import { universeTexts } from "./strings.ts";

const texts = universeTexts.universes;
const ORIGINS = (["system", "seed", "file", "empty"] as const).map((value) => ({ value, label: texts.origins[value] }));
type OriginKind = (typeof ORIGINS)[number]["value"];

/** Create a universe from a real system, a seed with settings, or a file. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const origins = useResource("origins", (signal) => api.get("/api/origins", { signal }));
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Loaded resource={origins}>{(found) => <CreateForm origins={found} onClose={onClose} />}</Loaded>
    </Dialog>
  );
}

function CreateForm({ origins, onClose }: { origins: UniverseOriginList; onClose: () => void }) {
  const [origin, setOrigin] = useState<OriginKind>("system");
  const [name, setName] = useState("");
  const [system, setSystem] = useState(origins.systems[0]?.id ?? "");
  const [preset, setPreset] = useState(origins.presets[0] ?? "");
  const [seed, setSeed] = useState("42");
  const [settings, setSettings] = useState<Record<string, string>>({});
  const [files, setFiles] = useState<readonly File[]>([]);
  const [isEach, setEach] = useState(true);
  const [imported, setImported] = useState<Imported>();
  const schema = (origins.settings.properties ?? {}) as Record<string, Setting>;
  const submission = useSubmission(origin === "seed" ? findProblems(schema, settings) : {});

  async function create(origin: Exclude<OriginKind, "file">): Promise<string> {
    const known = origins.systems.find((one) => one.id === system)?.name ?? system;
    const chosen = { system: known, seed: texts.seedName(seed), empty: texts.emptyName }[origin];
    const from = { system, seed: `seed:${preset}:${seed}`, empty: undefined }[origin];
    const given = Object.entries(settings).filter(([, text]) => text.trim() !== "");
    const changed = Object.fromEntries(given.map(([key, text]) => [key, readSetting(schema[key], text)]));
    const made = await api.post("/api/universes", {
      body: {
        name: name.trim() || chosen,
        ...(from ? { from } : {}),
        ...(origin === "seed" && given.length ? { settings: changed } : {}),
      },
    });
    return made.id;
  }

  const open = (id: string) => navigate(formatPath("/universes/{id}", { id }));
  async function submit(): Promise<void> {
    if (origin !== "file") {
      open(await create(origin));
      return;
    }
    const made = await importFiles(files, name.trim(), isEach);
    const [first, ...others] = made.universes;
    if (first && !others.length && !made.skippedCount && !made.notes.length) open(first.id);
    else setImported(made);
  }
  if (imported) return <ImportReport imported={imported} />;
  const skipped = (submission.error?.facts.skipped ?? []) as SkippedRow[];
  const skippedCount = (submission.error?.facts.skippedCount ?? skipped.length) as number;

  return (
    <SubmitForm
      submission={submission}
      action={texts.createButton}
      onSubmit={submit}
      onCancel={onClose}
      isDisabled={origin === "file" && files.length === 0}
    >
      <Choices label={texts.from} value={origin} choices={ORIGINS} onChange={setOrigin} />
      {origin === "system" && (
        <Select
          label={texts.system}
          value={system}
          choices={origins.systems.map((one) => ({ value: one.id, label: one.name }))}
          onChange={setSystem}
        />
      )}
      {origin === "seed" && (
        <>
          <Select
            label={texts.preset}
            value={preset}
            choices={origins.presets.map((value) => ({ value, label: value }))}
            onChange={setPreset}
          />
          <TextField label={texts.seed} hint={texts.seedHint} value={seed} onInput={setSeed} maxLength={200} isMono />
          <details>
            <summary>{texts.settings(Object.keys(schema).length - NOT_SETTINGS.length)}</summary>
            <div class="settings-grid">
              {Object.entries(schema)
                .filter(([key]) => !NOT_SETTINGS.includes(key))
                .map(([key, setting]) => (
                  <SettingField
                    key={key}
                    name={key}
                    setting={setting}
                    value={settings[key] ?? ""}
                    problem={submission.problems[key]}
                    onInput={(text) => setSettings({ ...settings, [key]: text })}
                  />
                ))}
            </div>
          </details>
        </>
      )}
      {origin === "file" && (
        <>
          <div class="field">
            <label for="universe-files">{texts.files}</label>
            <input
              id="universe-files"
              type="file"
              multiple
              aria-describedby="universe-files-hint"
              onChange={(event) => setFiles([...(event.currentTarget.files ?? [])])}
            />
            <p id="universe-files-hint" class="hint">
              {texts.filesHint}
            </p>
          </div>
          <Checkbox label={texts.each} hint={texts.eachHint} isChecked={isEach} onChange={setEach} />
        </>
      )}
      <TextField label={texts.name} hint={texts.nameHint} value={name} onInput={setName} maxLength={200} />
      {origin === "file" && <SkippedRows rows={skipped} count={skippedCount} />}
    </SubmitForm>
  );
}

function findProblems(schema: Record<string, Setting>, settings: Record<string, string>): Problems {
  return Object.fromEntries(
    Object.entries(schema).map(([key, setting]) => [key, checkSetting(setting, settings[key] ?? "")]),
  );
}

const NOT_SETTINGS = ["seed", "stylePreset", "topologyPreset"];
