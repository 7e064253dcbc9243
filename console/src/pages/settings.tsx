import { api } from "../api.ts";
import type { LocationFacts } from "../api_types.ts";
import { Button, Checkbox, Choices } from "../components/controls.tsx";
import { Card, PlainPage, Table } from "../components/layout.tsx";
import { Loaded } from "../components/states.tsx";
import { hasLetterKeys, type Theme, theme } from "../preferences.ts";
import { useReloadOnReturn, useResource } from "../resource.ts";
import { session, signOut } from "../session.ts";
import { strings } from "../strings.ts";
import { InstallationCheck } from "./settings/installation_check.tsx";
import { SettingValues } from "./settings/setting_values.tsx";

const THEMES = (Object.entries(strings.settings.themes) as [Theme, string][]).map(([value, label]) => ({
  value,
  label,
}));

export function SettingsPage() {
  const person = session.value;
  return (
    <PlainPage title={strings.settings.title}>
      <Card title={strings.settings.appearance}>
        <div class="card-body">
          <Choices
            label={strings.settings.theme}
            value={theme.value}
            choices={THEMES}
            onChange={(value) => {
              theme.value = value;
            }}
          />
        </div>
      </Card>
      <Card title={strings.settings.keyboard}>
        <div class="card-body">
          <Checkbox
            label={strings.settings.letterKeys}
            hint={strings.settings.letterKeysHint}
            isChecked={hasLetterKeys.value}
            onChange={(value) => {
              hasLetterKeys.value = value;
            }}
          />
        </div>
      </Card>
      {person.state === "signedIn" && (
        <Card title={strings.settings.person}>
          <div class="card-body">
            <p dir="auto">{strings.settings.signedInAs(person.name)}</p>
            <p class="buttons">
              <Button onClick={() => void signOut()}>{strings.settings.signOut}</Button>{" "}
              <Button onClick={() => void signOut({ everywhere: true })}>{strings.settings.signOutEverywhere}</Button>
            </p>
          </div>
        </Card>
      )}
      <InstallationCheck />
      <Installation />
    </PlainPage>
  );
}

const texts = strings.settings;

/** Read places and values together: what is drawn first does not move when the rest arrives. */
function Installation() {
  const installation = useResource(
    "installation",
    async (signal) => {
      const [{ paths }, { settings }] = await Promise.all([
        api.get("/api/paths", { signal }),
        api.get("/api/settings", { signal }),
      ]);
      return { paths, settings };
    },
    (change) => change.kind === "installation",
  );
  useReloadOnReturn(installation);
  return (
    <Loaded resource={installation}>
      {({ paths, settings }) => (
        <>
          <Places paths={paths} />
          <SettingValues settings={settings} onChanged={installation.reload} />
        </>
      )}
    </Loaded>
  );
}

function Places({ paths }: { paths: Record<string, LocationFacts> }) {
  return (
    <Card title={texts.places}>
      <Table
        label={texts.places}
        columns={[{ title: texts.place }, { title: texts.path }, { title: texts.origin }]}
        rows={Object.entries(paths).map(([name, place]) => [
          name,
          <code>{place.path}</code>,
          <span class="quiet">{place.exists ? place.origin : texts.missing}</span>,
        ])}
      />
    </Card>
  );
}
