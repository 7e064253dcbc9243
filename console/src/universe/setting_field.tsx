import { useId } from "preact/hooks";
import { TextField } from "../components/controls.tsx";
import { strings } from "../strings.ts";

/** A setting as its JSON schema describes it. */
export interface Setting {
  type?: string;
  enum?: unknown[];
  default?: unknown;
  description?: string;
  minimum?: number;
  maximum?: number;
}

/** Return a typed value as the schema wants it; the server says what is wrong with it. */
export function readSetting(setting: Setting | undefined, text: string): unknown {
  if (setting?.type === "boolean") return text === "true";
  const isNumber = setting?.type === "number" || setting?.type === "integer";
  return isNumber && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** A field for a setting: empty keeps the value of the preset. */
export function SettingField(props: {
  name: string;
  setting: Setting;
  value: string;
  onInput: (text: string) => void;
}) {
  const { name, setting, value, onInput } = props;
  const id = useId();
  const choices = setting.type === "boolean" ? ["true", "false"] : setting.enum?.map(String);
  if (choices) {
    return (
      <div class="field">
        <label for={id}>{name}</label>
        <select id={id} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
          <option value="">{strings.universes.unchanged}</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
        {setting.description && <p class="hint">{setting.description}</p>}
      </div>
    );
  }
  const range =
    setting.minimum !== undefined && setting.maximum !== undefined
      ? strings.universes.range(setting.minimum, setting.maximum)
      : "";
  const hint = [setting.description, range].filter(Boolean).join(" ");
  return <TextField label={name} value={value} onInput={onInput} hint={hint || undefined} isMono maxLength={40} />;
}
