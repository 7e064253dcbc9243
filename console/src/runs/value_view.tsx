import { useState } from "preact/hooks";
import { Button } from "../common/controls.tsx";
import { commonTexts } from "../common/strings.ts";
import { runTexts as texts } from "./strings.ts";

const SHORT = 2_000;

/** Values by their names; long ones are cut until the reader asks for all. They are foreign text. */
export function ValueView({ value }: { value: unknown }) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return <PlainValue value={value} />;
  if ("beginning" in value && "characters" in value) {
    return (
      <>
        <p class="quiet">{texts.cut(Number(value.characters))}</p>
        <PlainValue value={String(value.beginning)} />
      </>
    );
  }
  return (
    <dl class="values">
      {Object.entries(value).map(([name, one]) => (
        <div key={name}>
          <dt dir="auto">{name}</dt>
          <dd>
            <PlainValue value={one} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function PlainValue({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  const size = readSize(value);
  if (size !== undefined) return <span class="quiet">{texts.large(size)}</span>;
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return (
    <>
      <pre class="json" dir="auto">
        {isWhole ? text : text.slice(0, SHORT)}
        {!isWhole && text.length > SHORT && "…"}
      </pre>
      {text.length > SHORT && (
        <Button kind="quiet" onClick={() => setWhole(!isWhole)}>
          {isWhole ? commonTexts.actions.showLess : commonTexts.actions.showAll(text.length)}
        </Button>
      )}
    </>
  );
}

/** Return the size of a value that is not stored because it is too large. */
export function readSize(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null || !("bytes" in value)) return undefined;
  return Object.keys(value).join() === "bytes" && typeof value.bytes === "number" ? value.bytes : undefined;
}
