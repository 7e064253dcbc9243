import { useEffect, useRef, useState } from "preact/hooks";
import { copyText } from "../common/clipboard.ts";
import { Button, Choices } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { Translation } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { strategyTexts } from "./strings.ts";

const texts = strategyTexts.planCopy;

/** The plan in the syntax of each database, to copy, with what was changed or lost. */
export function CopyPlanDialog({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const copies = useResource(`plan copies ${sessionId}`, (signal) =>
    api.get("/api/searches/{session_id}/strategy/copies", { path: { session_id: sessionId }, signal }),
  );
  return (
    <Dialog title={texts.title} kind="wide" onClose={onClose}>
      <Loaded resource={copies}>{(reply) => <Databases copies={reply.copies} />}</Loaded>
    </Dialog>
  );
}

function Databases({ copies }: { copies: readonly Translation[] }) {
  const [chosen, setChosen] = useState(copies[0]?.platform ?? "");
  const copy = copies.find((one) => one.platform === chosen);
  const element = useRef<HTMLElement>(null);
  useEffect(() => element.current?.querySelector("button")?.focus(), []); // Enter copies
  if (!copy) return <p class="quiet">{texts.none}</p>;
  const scroll = { tabIndex: 0, role: "region" as const, "aria-label": copy.label }; // also by keyboard
  return (
    <>
      <Choices
        label={texts.database}
        value={chosen}
        choices={copies.map((one) => ({ value: one.platform, label: one.label }))}
        onChange={setChosen}
      />
      <pre {...scroll} class="json citation-text" dir="auto">
        {copy.text || texts.nothing}
      </pre>
      <section aria-live="polite">
        <h3 class="small">{texts.changes(copy.changes.length)}</h3>
        <ul class="notes small">
          {copy.changes.map((change) => (
            <li key={change} dir="auto">
              {change}
            </li>
          ))}
        </ul>
      </section>
      <footer ref={element}>
        <Button kind="primary" icon="copy" onClick={() => void copyPlan(copy)} isDisabled={!copy.text}>
          {texts.copy(copy.label)}
        </Button>
      </footer>
    </>
  );
}

async function copyPlan(copy: Translation): Promise<void> {
  if (await copyText(copy.text)) showToast(texts.copied(copy.label));
  else showToast(commonTexts.actions.notCopied, "no");
}
