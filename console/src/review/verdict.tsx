import { useId } from "preact/hooks";
import { Key } from "../common/controls.tsx";
import { commonTexts } from "../common/strings.ts";

export type Verdict = "include" | "maybe" | "exclude";
const VERDICTS: readonly { value: Verdict; keyHint: string; tone: string }[] = [
  { value: "include", keyHint: "i", tone: "yes" },
  { value: "maybe", keyHint: "m", tone: "maybe" },
  { value: "exclude", keyHint: "x", tone: "no" },
];

/** Include, maybe or exclude: three radio buttons. */
export function VerdictRadios(props: { value: Verdict | undefined; onChange: (value: Verdict) => void }) {
  const name = useId();
  return (
    <fieldset class="verdicts">
      <legend>{commonTexts.decision.yourVerdict}</legend>
      {VERDICTS.map(({ value, keyHint, tone }) => (
        <label key={value} class={props.value === value ? `verdict chosen ${tone}` : "verdict"}>
          <input
            class="visually-hidden"
            type="radio"
            name={name}
            checked={props.value === value}
            onChange={() => props.onChange(value)}
          />
          <span>{commonTexts.decision[value]}</span>
          <span class="key-hint" aria-hidden="true">
            <Key>{keyHint.toUpperCase()}</Key>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** Reasons to choose from, each with a digit as its key. */
export function ReasonChips(props: {
  reasons: readonly string[];
  chosen: string | undefined;
  onChange: (reason: string | undefined) => void;
}) {
  return (
    <fieldset class="reasons">
      <legend>{commonTexts.decision.reason}</legend>
      <div class="chips">
        {props.reasons.map((reason, index) => (
          <label key={reason} class={reason === props.chosen ? "chip chosen" : "chip"}>
            <input
              type="checkbox"
              checked={reason === props.chosen}
              onChange={(event) => props.onChange(event.currentTarget.checked ? reason : undefined)}
            />
            <span dir="auto">{reason}</span>
            {index < 9 && (
              <span class="key-hint" aria-hidden="true">
                <Key>{String(index + 1)}</Key>
              </span>
            )}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
