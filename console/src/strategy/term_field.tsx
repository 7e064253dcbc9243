import { useState } from "preact/hooks";

/** A field that adds a term by Enter, or when it is left: what was typed is never lost. Escape empties it. */
export function TermField(props: {
  label: string;
  placeholder?: string;
  /** Whether the term is there already: then the field keeps it, selected. */
  has: (term: string) => boolean;
  onAdd: (term: string) => void;
}) {
  const [text, setText] = useState("");

  function add(field: HTMLInputElement): void {
    const term = field.value.trim();
    if (!term) return;
    if (props.has(term)) {
      field.select();
      return;
    }
    props.onAdd(term);
    setText("");
  }

  return (
    <input
      type="text"
      class="term-field"
      aria-label={props.label}
      placeholder={props.placeholder ?? props.label}
      value={text}
      maxLength={200}
      autoComplete="off"
      dir="auto"
      onInput={(event) => setText(event.currentTarget.value)}
      onBlur={(event) => add(event.currentTarget)}
      onKeyDown={(event) => {
        if (event.isComposing) return;
        if (event.key === "Enter") {
          event.preventDefault();
          add(event.currentTarget);
        } else if (event.key === "Escape" && text) {
          event.stopPropagation();
          setText("");
        }
      }}
    />
  );
}
