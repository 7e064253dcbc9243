import { Button, Checkbox, Choices } from "../components/controls.tsx";
import { Card, PlainPage } from "../components/layout.tsx";
import { hasLetterKeys, type Theme, theme } from "../preferences.ts";
import { session, signOut } from "../session.ts";
import { strings } from "../strings.ts";

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
            <Button onClick={() => void signOut()}>{strings.settings.signOut}</Button>
          </div>
        </Card>
      )}
    </PlainPage>
  );
}
