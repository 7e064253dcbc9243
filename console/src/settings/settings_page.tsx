import { Button, Checkbox, Choices } from "../common/controls.tsx";
import { Card, PlainPage, Table } from "../common/layout.tsx";
import { Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { api } from "../data/api.ts";
import type { LocationFacts } from "../data/api_types.ts";
import { hasLetterKeys, type Theme, theme } from "../data/preferences.ts";
import { useReloadOnReturn, useResource } from "../data/resource.ts";
import { session, signOut } from "../data/session.ts";
import { InstallationCheck } from "./installation_check.tsx";
import { SettingValues } from "./setting_values.tsx";
import { settingsTexts } from "./strings.ts";

const THEMES = (Object.entries(settingsTexts.settings.themes) as [Theme, string][]).map(([value, label]) => ({
  value,
  label,
}));

export function SettingsPage() {
  const person = session.value;
  return (
    <PlainPage title={commonTexts.pages.settings}>
      <Card title={settingsTexts.settings.appearance}>
        <div class="card-body">
          <Choices
            label={settingsTexts.settings.theme}
            value={theme.value}
            choices={THEMES}
            onChange={(value) => {
              theme.value = value;
            }}
          />
        </div>
      </Card>
      <Card title={settingsTexts.settings.keyboard}>
        <div class="card-body">
          <Checkbox
            label={settingsTexts.settings.letterKeys}
            hint={settingsTexts.settings.letterKeysHint}
            isChecked={hasLetterKeys.value}
            onChange={(value) => {
              hasLetterKeys.value = value;
            }}
          />
        </div>
      </Card>
      {person.state === "signedIn" && (
        <Card title={settingsTexts.settings.person}>
          <div class="card-body">
            <p dir="auto">{settingsTexts.settings.signedInAs(person.name)}</p>
            <p class="buttons">
              <Button onClick={() => void signOut()}>{settingsTexts.settings.signOut}</Button>{" "}
              <Button onClick={() => void signOut({ everywhere: true })}>
                {settingsTexts.settings.signOutEverywhere}
              </Button>
            </p>
          </div>
        </Card>
      )}
      <InstallationCheck />
      <Installation />
    </PlainPage>
  );
}

const texts = settingsTexts.settings;

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
