import { useMemo, useState } from "preact/hooks";
import { Button } from "./controls.tsx";
import { commonTexts } from "./strings.ts";

const SHORT = 20_000;

/** Return an address that may be linked to: http or https. */
export function checkLink(href: string | undefined): string | undefined {
  if (!href) return undefined;
  try {
    const { protocol } = new URL(href);
    return protocol === "https:" || protocol === "http:" ? href : undefined;
  } catch {
    return undefined;
  }
}

/** Plain foreign text with marked terms; a very long one is cut until the reader asks for all. */
export function ForeignText({ text, terms = [] }: { text: string; terms?: readonly string[] }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : text.slice(0, SHORT);
  const pieces = useMemo(() => splitAtTerms(shown, terms), [shown, terms]);
  return (
    <div class="foreign prose" dir="auto">
      <p>
        {pieces.map((piece, index) => (index % 2 ? <mark key={`${index}`}>{piece}</mark> : piece))}
        {!isWhole && text.length > SHORT && "…"}
      </p>
      {text.length > SHORT && (
        <Button kind="quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? commonTexts.actions.showLess : commonTexts.actions.showAll(text.length)}
        </Button>
      )}
    </div>
  );
}

/** Split a text so that every second piece is one of the terms, whole words in any case. */
export function splitAtTerms(text: string, terms: readonly string[]): string[] {
  const words = terms
    .filter((term) => term.trim().length > 1)
    .map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!words.length) return [text];
  words.sort((a, b) => b.length - a.length);
  return text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${words.join("|")})(?![\\p{L}\\p{N}])`, "giu"));
}
