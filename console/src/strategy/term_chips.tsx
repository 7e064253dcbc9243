import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon } from "../common/icon.tsx";
import { strategyTexts } from "./strings.ts";

const texts = strategyTexts.concepts;
const SHOWN = 12;
const STEPS: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * Terms as chips. With `onRemove`, the row is one stop of Tab: arrows, Home and End move in it, Delete or a click
 * removes, and the focus goes to the chip that takes the place.
 */
export function TermChips(props: {
  label: string;
  terms: readonly string[];
  onRemove?: ((term: string) => void) | undefined;
}) {
  const { label, terms, onRemove } = props;
  const list = useRef<HTMLUListElement>(null);
  const [isWhole, setWhole] = useState(false);
  const [current, setCurrent] = useState(0);
  const hasRemoved = useRef(false);
  const shown = isWhole ? terms : terms.slice(0, SHOWN);
  const last = shown.length - 1;
  const place = Math.min(current, last);

  function focusChip(index: number): void {
    list.current?.querySelectorAll<HTMLButtonElement>(".term-remove")[index]?.focus();
  }

  useLayoutEffect(() => {
    if (!hasRemoved.current) return;
    hasRemoved.current = false;
    focusChip(place);
  }, [terms]);

  function remove(index: number): void {
    const term = shown[index];
    if (term === undefined || !onRemove) return;
    hasRemoved.current = true;
    setCurrent(index);
    onRemove(term);
  }

  function follow(event: KeyboardEvent, index: number): void {
    const step = STEPS[event.key];
    const target = event.key === "Home" ? 0 : event.key === "End" ? last : step ? index + step : undefined;
    if (event.key === "Delete" || event.key === "Backspace") remove(index);
    else if (target === undefined) return;
    else focusChip(Math.max(0, Math.min(last, target)));
    event.preventDefault();
  }

  return (
    <ul ref={list} class="terms" aria-label={label}>
      {shown.map((term, index) => (
        <li key={index} class="term">
          <span class="term-text" dir="auto" title={term}>
            {term}
          </span>
          {onRemove && (
            <button
              class="term-remove"
              type="button"
              aria-label={texts.removeTerm(term)}
              tabIndex={index === place ? 0 : -1}
              onClick={() => remove(index)}
              onFocus={() => setCurrent(index)}
              onKeyDown={(event) => follow(event, index)}
            >
              <Icon name="close" />
            </button>
          )}
        </li>
      ))}
      {terms.length > shown.length && (
        <li>
          <button class="link-button small" type="button" onClick={() => setWhole(true)}>
            {texts.moreTerms(terms.length - shown.length)}
          </button>
        </li>
      )}
    </ul>
  );
}
