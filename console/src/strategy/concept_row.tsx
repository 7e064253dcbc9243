import { useId } from "preact/hooks";
import type { ConceptBlock } from "../data/api_types.ts";
import type { ChangeConcepts } from "./concept_card.tsx";
import { addVariant, hasTerm, removeVariant, switchBlock } from "./concept_edit.ts";
import { strategyTexts } from "./strings.ts";
import { TermChips } from "./term_chips.tsx";
import { TermField } from "./term_field.tsx";

const texts = strategyTexts.concepts;

/** One concept: its switch and origin, and its wordings. */
export function ConceptRow({ block, onChange }: { block: ConceptBlock; onChange?: ChangeConcepts | undefined }) {
  const id = useId();
  const isOn = block.active !== false;
  const facts = [isOn ? "" : texts.off, block.reason, describeShare(block.share)].filter(Boolean);
  return (
    <li class={isOn ? "concept" : "concept off"}>
      <div class="concept-head">
        {onChange ? (
          <label class="concept-switch">
            <input
              type="checkbox"
              checked={isOn}
              aria-describedby={`${id}-facts`}
              onChange={(event) => onChange(switchBlock(block.name, event.currentTarget.checked))}
            />
            <strong dir="auto">{block.name}</strong>
          </label>
        ) : (
          <strong dir="auto">{block.name}</strong>
        )}
        <p id={`${id}-facts`} class="quiet small">
          {facts.map((fact) => (
            <span key={fact} dir="auto">
              {fact}
            </span>
          ))}
        </p>
      </div>
      <div class="concept-terms">
        <TermChips
          label={texts.wordings(block.name)}
          terms={block.variants}
          onRemove={onChange && ((term) => onChange(removeVariant(block.name, term)))}
        />
        {onChange && (
          <TermField
            label={texts.addWording(block.name)}
            placeholder={texts.addWordingShort}
            has={(term) => hasTerm(block.variants, term)}
            onAdd={(term) => onChange(addVariant(block.name, term))}
          />
        )}
      </div>
    </li>
  );
}

/** Return how specific a concept is: a percentage, or one in so many papers. */
export function describeShare(share: number | null | undefined): string {
  if (share === null || share === undefined || !(share > 0)) return "";
  if (share >= 0.01) return texts.percent(String(Math.round(share * 100)));
  return texts.oneIn(Number((1 / share).toPrecision(1)).toLocaleString("en-GB"));
}
