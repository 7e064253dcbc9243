import { useLayoutEffect, useRef } from "preact/hooks";
import { Card } from "../common/layout.tsx";
import type { ConceptBlock, TermSuggestion } from "../data/api_types.ts";
import { acceptSuggestion, addBlock, hasTerm } from "./concept_edit.ts";
import { ConceptRow } from "./concept_row.tsx";
import type { StrategyEdit } from "./strategy_edit.ts";
import { strategyTexts } from "./strings.ts";
import { TermField } from "./term_field.tsx";
import { TermSuggestions } from "./term_suggestions.tsx";

const texts = strategyTexts.concepts;

export type ChangeConcepts = (change: (edit: StrategyEdit) => StrategyEdit) => void;

/** The concepts of a plan, one row each, with their wordings as chips. Without `onChange` they are only shown. */
export function ConceptCard(props: {
  blocks: readonly ConceptBlock[];
  suggestions?: readonly TermSuggestion[];
  onChange?: ChangeConcepts | undefined;
}) {
  const { blocks, suggestions = [], onChange } = props;
  const card = useRef<HTMLDivElement>(null);
  const count = useRef(blocks.length);
  const focusNew = () => card.current?.querySelector<HTMLInputElement>(".concept.new input")?.focus();
  useLayoutEffect(() => {
    const hasLost = blocks.length < count.current && document.activeElement === document.body;
    count.current = blocks.length;
    if (hasLost) focusNew(); // the last wording of the last row was removed, and with it what had the focus
  }, [blocks.length]);
  if (!blocks.length) return null;
  const active = blocks.filter((block) => block.active !== false).length;
  return (
    <div ref={card}>
      <Card title={texts.title} aside={texts.count(active, blocks.length)}>
        <ul class="concepts" aria-label={texts.title}>
          {blocks.map((block, index) => (
            <ConceptRow key={index} block={block} onChange={onChange} />
          ))}
          {onChange && (
            <li class="concept new">
              <TermField
                label={texts.addConcept}
                has={(term) =>
                  hasTerm(
                    blocks.map((block) => block.name),
                    term,
                  )
                }
                onAdd={(term) => onChange(addBlock(term, texts.addedByYou))}
              />
            </li>
          )}
        </ul>
        {active === 0 && <p class="card-body problem">{texts.noneOn}</p>}
        {onChange && suggestions.length > 0 && (
          <TermSuggestions
            suggestions={suggestions}
            onAccept={(suggestion) => onChange(acceptSuggestion(suggestion))}
            onEmpty={focusNew}
          />
        )}
      </Card>
    </div>
  );
}
