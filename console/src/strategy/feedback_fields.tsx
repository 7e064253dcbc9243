import { Checkbox, TextField } from "../common/controls.tsx";
import type { FeedbackChoices } from "../data/api_types.ts";
import type { FeedbackEdit } from "./feedback_edit.ts";
import { strategyTexts } from "./strings.ts";
import { TermChips } from "./term_chips.tsx";
import { TermField } from "./term_field.tsx";

const texts = strategyTexts.feedback;

/** Exact changes of the next plan: terms, years, limits that the plan has, and terms that the results suggest. */
export function FeedbackFields(props: {
  choices: FeedbackChoices | null | undefined;
  edit: FeedbackEdit;
  onChange: (fields: Partial<FeedbackEdit>) => void;
}) {
  const { edit, onChange } = props;
  const limits = (props.choices?.limits ?? []).filter((name) => name !== "years");
  const suggestions = props.choices?.suggestions ?? [];
  const isUsed = Object.values(edit).some((value) => value.length);
  return (
    <details class="feedback-fields" open={isUsed}>
      <summary>{texts.title}</summary>
      <Terms label={texts.add} terms={edit.add_terms} onChange={(add_terms) => onChange({ add_terms })} />
      <Terms
        label={texts.exclude}
        terms={edit.exclude_terms}
        onChange={(exclude_terms) => onChange({ exclude_terms })}
      />
      <div class="feedback-years">
        <TextField
          label={texts.yearFrom}
          value={edit.year_from}
          maxLength={4}
          onInput={(year_from) => onChange({ year_from })}
        />
        <TextField
          label={texts.yearTo}
          value={edit.year_to}
          maxLength={4}
          onInput={(year_to) => onChange({ year_to })}
        />
      </div>
      <Boxes
        title={texts.drop}
        names={limits}
        label={(name) => strategyTexts.strategy.parts[name] ?? name}
        chosen={edit.drop_limits}
        onChange={(drop_limits) => onChange({ drop_limits })}
      />
      <Boxes
        title={texts.suggested}
        names={suggestions.map((one) => one.term)}
        label={(term) => term}
        hint={(term) => suggestions.find((one) => one.term === term)?.reason}
        chosen={edit.use_suggestions}
        onChange={(use_suggestions) => onChange({ use_suggestions })}
      />
    </details>
  );
}

function Terms(props: { label: string; terms: readonly string[]; onChange: (terms: string[]) => void }) {
  const { label, terms, onChange } = props;
  return (
    <div class="feedback-terms">
      <TermField label={label} has={(term) => terms.includes(term)} onAdd={(term) => onChange([...terms, term])} />
      {terms.length > 0 && (
        <TermChips label={label} terms={terms} onRemove={(term) => onChange(terms.filter((one) => one !== term))} />
      )}
    </div>
  );
}

function Boxes(props: {
  title: string;
  names: readonly string[];
  label: (name: string) => string;
  hint?: (name: string) => string | undefined;
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}) {
  if (!props.names.length) return null;
  return (
    <fieldset class="feedback-boxes">
      <legend>{props.title}</legend>
      {props.names.map((name) => (
        <Checkbox
          key={name}
          label={props.label(name)}
          isChecked={props.chosen.includes(name)}
          hint={props.hint?.(name) ?? ""}
          onChange={(isChecked) =>
            props.onChange(isChecked ? [...props.chosen, name] : props.chosen.filter((one) => one !== name))
          }
        />
      ))}
    </fieldset>
  );
}
