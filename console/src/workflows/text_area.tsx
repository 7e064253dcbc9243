import type { Signal } from "@preact/signals";
import type { Ref } from "preact";
import { useId, useMemo, useRef } from "preact/hooks";

/** The height of a line and the space above the first one, as in the style sheet. */
const LINE_PX = 20;
const PADDING_PX = 12;

interface Props {
  area: Ref<HTMLTextAreaElement>;
  label: string;
  text: Signal<string>;
  /** Lines to mark beside the text. */
  lines: ReadonlyMap<number, "error" | "warning">;
}

/** A field for a long text with the numbers of its lines. Tab leaves it, as everywhere. */
export function TextArea({ area, label, text, lines }: Props) {
  const id = useId();
  const gutter = useRef<HTMLDivElement>(null);
  const count = text.value.split("\n").length;
  const numbers = useMemo(() => Array.from({ length: count }, (_, index) => index + 1).join("\n"), [count]);
  return (
    <div class="text-area">
      <label class="visually-hidden" for={id}>
        {label}
      </label>
      <div class="text-gutter" ref={gutter} aria-hidden="true">
        <pre>{numbers}</pre>
        {[...lines].map(([line, severity]) => (
          <span key={line} class={severity} style={{ top: `${PADDING_PX + (line - 1) * LINE_PX}px` }} />
        ))}
      </div>
      <textarea
        id={id}
        ref={area}
        class="mono"
        spellcheck={false}
        autocomplete="off"
        wrap="off"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onScroll={(event) => {
          if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
    </div>
  );
}
