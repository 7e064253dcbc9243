import { useState } from "preact/hooks";
import { api } from "../api.ts";
import { type ApiError, toApiError } from "../api_error.ts";
import type { UniverseOriginList } from "../api_types.ts";
import { Button, Checkbox, Choices, Select, TextField } from "../components/controls.tsx";
import { Dialog } from "../components/dialog.tsx";
import { ErrorNote, Loaded } from "../components/states.tsx";
import { showToast } from "../components/toasts.tsx";
import { useResource } from "../resource.ts";
import { formatPath, navigate } from "../router.ts";
import { strings } from "../strings.ts";
import { readSetting, type Setting, SettingField } from "./setting_field.tsx";

const texts = strings.universes;
const ORIGINS = (["system", "seed", "file", "empty"] as const).map((value) => ({ value, label: texts.origins[value] }));
type Origin = (typeof ORIGINS)[number]["value"];

/** Create a universe from a real system, a seed with settings, or a file. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const origins = useResource("origins", (signal) => api.get("/api/origins", { signal }));
  return (
    <Dialog title={texts.create} onClose={onClose}>
      <Loaded resource={origins}>{(found) => <CreateForm origins={found} onClose={onClose} />}</Loaded>
    </Dialog>
  );
}

interface Imported {
  universes?: { id: string; name: string }[];
  import?: { skippedCount?: number };
}

function CreateForm({ origins, onClose }: { origins: UniverseOriginList; onClose: () => void }) {
  const [origin, setOrigin] = useState<Origin>("system");
  const [name, setName] = useState("");
  const [system, setSystem] = useState(origins.systems[0]?.id ?? "");
  const [preset, setPreset] = useState(origins.presets[0] ?? "");
  const [seed, setSeed] = useState("42");
  const [settings, setSettings] = useState<Record<string, string>>({});
  const [files, setFiles] = useState<readonly File[]>([]);
  const [isEach, setEach] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const schema = (origins.settings.properties ?? {}) as Record<string, Setting>;

  async function create(): Promise<string> {
    if (origin === "file") return importFiles(files, name, isEach);
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
    return (made as { id: string }).id;
  }

  async function submit(): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      const id = await create();
      if (id) navigate(formatPath("/universes/{id}", { id }));
      else onClose();
    } catch (thrown) {
      setError(toApiError(thrown));
      setBusy(false);
    }
  }

  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
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
          <Checkbox label={texts.each} isChecked={isEach} onChange={setEach} />
        </>
      )}
      <TextField label={texts.name} hint={texts.nameHint} value={name} onInput={setName} maxLength={200} />
      {error && <ErrorNote error={error} />}
      <footer class="form-buttons">
        <Button kind="primary" type="submit" isBusy={isBusy} isDisabled={origin === "file" && files.length === 0}>
          {texts.createButton}
        </Button>
        <Button onClick={onClose}>{strings.actions.cancel}</Button>
      </footer>
    </form>
  );
}

const NOT_SETTINGS = ["seed", "stylePreset", "topologyPreset"];

/** Send the files; return the id of the first universe. A file of an exported universe is its state. */
async function importFiles(files: readonly File[], name: string, isEach: boolean): Promise<string> {
  const content = await Promise.all(files.map((file) => file.text()));
  const state = readExportedState(content);
  if (state) {
    const body = { name: name.trim() || files[0]?.name || texts.emptyName, state: state as never };
    return ((await api.post("/api/universes", { body })) as { id: string }).id;
  }
  const reply = (await api.post("/api/universes/import", {
    body: {
      content: content.length === 1 ? (content[0] ?? "") : content,
      ...(isEach ? { each: true } : {}),
      ...(name.trim() ? { name: name.trim() } : {}),
    },
  })) as Imported;
  showToast(texts.imported(reply.universes?.length ?? 0, reply.import?.skippedCount ?? 0));
  return reply.universes?.length === 1 ? (reply.universes[0]?.id ?? "") : "";
}

function readExportedState(content: readonly string[]): object | undefined {
  if (content.length !== 1) return undefined;
  try {
    const parsed: unknown = JSON.parse(content[0] ?? "");
    if (typeof parsed !== "object" || parsed === null) return undefined;
    const state = "state" in parsed ? parsed.state : parsed;
    return typeof state === "object" && state !== null && "stars" in state ? state : undefined;
  } catch {
    return undefined;
  }
}
