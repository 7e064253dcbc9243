import type { ConceptBlock, TermSuggestion } from "../data/api_types.ts";
import type { StrategyEdit } from "./strategy_edit.ts";

type PlanChange = (edit: StrategyEdit) => StrategyEdit;

const fold = (term: string) => term.trim().replace(/\s+/g, " ").toLocaleLowerCase();

export function hasTerm(terms: readonly string[], term: string): boolean {
  return terms.some((one) => fold(one) === fold(term));
}

/** Return the change that adds a wording to a concept. */
export function addVariant(name: string, term: string): PlanChange {
  return changeBlock(name, (block) =>
    hasTerm(block.variants, term) ? block : { ...block, variants: [...block.variants, term.trim()] },
  );
}

/** Return the change that removes a wording; a concept without its first wording is named by the next one. */
export function removeVariant(name: string, term: string): PlanChange {
  return changeBlock(name, (block) => {
    const variants = block.variants.filter((one) => one !== term);
    const [first] = variants;
    if (first === undefined) return undefined;
    return { ...block, variants, name: block.name === term ? first : block.name };
  });
}

export function switchBlock(name: string, active: boolean): PlanChange {
  return changeBlock(name, (block) => ({ ...block, active }));
}

/** Return the change that adds a concept; one that exists is switched on. Queries never require all learned ones. */
export function addBlock(term: string, reason: string, learned = false): PlanChange {
  return (edit) =>
    hasTerm(
      edit.blocks.map((block) => block.name),
      term,
    )
      ? switchBlock(edit.blocks.find((block) => fold(block.name) === fold(term))?.name ?? term, true)(edit)
      : {
          ...edit,
          blocks: [...edit.blocks, { name: term.trim(), variants: [term.trim()], active: true, reason, learned }],
        };
}

/** Return the change that uses a suggested term, as a wording of its concept or as a concept of its own. */
export function acceptSuggestion(suggestion: TermSuggestion): PlanChange {
  return (edit) => {
    const target = edit.blocks.find((block) => block.name === suggestion.block);
    const use = target ? addVariant(target.name, suggestion.term) : addBlock(suggestion.term, suggestion.reason, true);
    return use({ ...edit, suggestions: edit.suggestions.filter((one) => one.term !== suggestion.term) });
  };
}

function changeBlock(name: string, change: (block: ConceptBlock) => ConceptBlock | undefined): PlanChange {
  return (edit) => ({
    ...edit,
    blocks: edit.blocks.flatMap((block) => (block.name === name ? (change(block) ?? []) : block)),
  });
}
