import { useId } from "preact/hooks";
import { TextField } from "../common/controls.tsx";
import { universeTexts } from "./strings.ts";

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

/** Return what is wrong with a typed value; undefined for a value that the schema allows, and for none. */
export function checkSetting(setting: Setting, text: string): string | undefined {
  const isInteger = setting.type === "integer";
  if (!text.trim() || (setting.type !== "number" && !isInteger)) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value)) return universeTexts.universe.notNumber;
  if (isInteger && !Number.isInteger(value)) return universeTexts.universes.notWhole;
  if (setting.minimum !== undefined && value < setting.minimum) return universeTexts.universe.below(setting.minimum);
  if (setting.maximum !== undefined && value > setting.maximum) return universeTexts.universe.above(setting.maximum);
  return undefined;
}

/** A field for a setting: empty keeps the value of the preset. */
export function SettingField(props: {
  name: string;
  setting: Setting;
  value: string;
  problem: string | undefined;
  onInput: (text: string) => void;
}) {
  const { name, setting, value, problem, onInput } = props;
  const id = useId();
  const choices = setting.type === "boolean" ? ["true", "false"] : setting.enum?.map(String);
  if (choices) {
    return (
      <div class="field">
        <label for={id}>{name}</label>
        <select id={id} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
          <option value="">{universeTexts.universes.unchanged}</option>
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
      ? universeTexts.universes.range(setting.minimum, setting.maximum)
      : "";
  const hint = [setting.description, range].filter(Boolean).join(" ");
  const shared = { label: name, value, onInput, problem, hint: hint || undefined };
  return <TextField {...shared} isMono maxLength={40} />;
}
