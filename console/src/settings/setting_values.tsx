import { useState } from "preact/hooks";
import { Button, Select, TextField } from "../common/controls.tsx";
import { Card, Table } from "../common/layout.tsx";
import { commonTexts } from "../common/strings.ts";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { SettingFacts } from "../data/api_types.ts";
import { navigate, query } from "../data/router.ts";
import { settingsTexts } from "./strings.ts";

const texts = settingsTexts.settings;
const SWITCH = (["true", "false"] as const).map((value) => ({ value, label: texts.switchWords[value] }));

/** All settings with their origins. Some can be changed in place. The address holds the filter. */
export function SettingValues({ settings, onChanged }: { settings: readonly SettingFacts[]; onChanged: () => void }) {
  const filter = query.value.get("q") ?? "";
  const words = filter.toLowerCase().split(/\s+/);
  const found = settings.filter((one) => words.every((word) => one.setting.toLowerCase().includes(word)));
  const setFilter = (next: string) =>
    navigate(next ? `/settings?${new URLSearchParams({ q: next })}` : "/settings", { replace: true });
  return (
    <Card title={texts.values}>
      <div class="card-body">
        <p class="quiet">{texts.valuesLead}</p>
        <TextField label={texts.filter} value={filter} onInput={setFilter} />
      </div>
      {found.length ? (
        <Table
          label={texts.values}
          columns={[{ title: texts.setting }, { title: texts.value }, { title: texts.origin }]}
          rows={found.map((one) => [
            <code>{one.setting}</code>,
            <SettingValue key={one.setting} facts={one} onChanged={onChanged} />,
            <span class="quiet">{one.origin}</span>,
          ])}
        />
      ) : (
        <p class="card-body quiet">{texts.noValues}</p>
      )}
    </Card>
  );
}

function formatSetting(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function SettingValue({ facts, onChanged }: { facts: SettingFacts; onChanged: () => void }) {
  const [isEditing, setEditing] = useState(false);
  const isOverridden = facts.origin_kind === "environment" || facts.origin_kind === "dotenv";
  if (!facts.changeable) return <code>{formatSetting(facts.value)}</code>;
  if (isOverridden) {
    return (
      <>
        <code>{formatSetting(facts.value)}</code> <span class="quiet small">{texts.hasPriority}</span>
      </>
    );
  }
  if (isEditing) {
    return (
      <SettingForm
        facts={facts}
        onSaved={() => {
          setEditing(false);
          onChanged();
        }}
        onCancel={() => setEditing(false)}
      />
    );
  }
  return (
    <div class="setting-value">
      <code>{formatSetting(facts.value)}</code>
      <Button label={texts.changeSetting(facts.setting)} onClick={() => setEditing(true)}>
        {texts.change}
      </Button>
    </div>
  );
}

function SettingForm(props: { facts: SettingFacts; onSaved: () => void; onCancel: () => void }) {
  const { setting, value, origin_kind: origin } = props.facts;
  const [text, setText] = useState(value === null ? "" : String(value));
  const submission = useSubmission<"submit" | "reset">();
  const isSwitch = typeof value === "boolean";
  const label = texts.newValue(setting);
  async function store(next: string | boolean | null): Promise<void> {
    await api.put("/api/settings/{name}", { path: { name: setting }, body: { value: next } });
    showToast(next === null ? texts.isReset(setting) : texts.saved(setting));
    props.onSaved();
  }
  return (
    <SubmitForm
      submission={submission}
      action={commonTexts.actions.save}
      onSubmit={() => store(isSwitch ? text === "true" : text)}
      onCancel={props.onCancel}
      buttons={
        origin === "file" && (
          <Button isBusy={submission.busy === "reset"} onClick={() => void submission.send("reset", () => store(null))}>
            {texts.reset}
          </Button>
        )
      }
    >
      {isSwitch ? (
        <Select label={label} value={text} choices={SWITCH} onChange={setText} />
      ) : (
        <TextField label={label} value={text} onInput={setText} isMono autoFocus />
      )}
    </SubmitForm>
  );
}
