import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../common/controls.tsx";
import type { TermSuggestion } from "../data/api_types.ts";
import { strategyTexts } from "./strings.ts";

const texts = strategyTexts.concepts;
const SHOWN = 6;

/** Terms that the results suggest, each with its reason and a button that uses it. */
export function TermSuggestions(props: {
  suggestions: readonly TermSuggestion[];
  onAccept: (suggestion: TermSuggestion) => void;
  /** Called when the last suggestion has been accepted: the focus needs another place. */
  onEmpty: () => void;
}) {
  const { suggestions } = props;
  const list = useRef<HTMLUListElement>(null);
  const accepted = useRef<number>(undefined);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? suggestions : suggestions.slice(0, SHOWN);
  useLayoutEffect(() => {
    if (accepted.current === undefined) return;
    const buttons = list.current?.querySelectorAll<HTMLButtonElement>("li > .button");
    buttons?.[Math.min(accepted.current, buttons.length - 1)]?.focus();
    accepted.current = undefined;
  }, [suggestions]);
  return (
    <section class="suggestions" aria-label={texts.suggested}>
      <h3 class="section-title">{texts.suggested}</h3>
      <ul ref={list}>
        {shown.map((one, index) => (
          <li key={index}>
            <Button
              icon="plus"
              label={texts.accept(one.term, one.block)}
              onClick={() => {
                accepted.current = index;
                props.onAccept(one);
                if (suggestions.length === 1) props.onEmpty();
              }}
            >
              <span class="term-text" dir="auto">
                {one.term}
              </span>
            </Button>
            <span class="quiet small">
              <span dir="auto">{one.reason}</span>
              {one.block ? texts.joins(one.block) : texts.ownConcept}
            </span>
          </li>
        ))}
      </ul>
      {suggestions.length > shown.length && (
        <button class="link-button small" type="button" onClick={() => setWhole(true)}>
          {texts.moreTerms(suggestions.length - shown.length)}
        </button>
      )}
    </section>
  );
}
