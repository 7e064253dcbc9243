import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { copyText } from "../common/clipboard.ts";
import { Button, Choices } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { Citation, PaperMetadata } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { libraryTexts } from "./strings.ts";

const texts = libraryTexts.paper;

/** The citation of a paper in every format, to copy or to download. */
export function CiteDialog(props: { shelf: string; paper: PaperMetadata; onClose: () => void }) {
  const { shelf, paper, onClose } = props;
  const citations = useResource(`cite ${shelf} ${paper.paper_id}`, (signal) =>
    api.get("/api/shelves/{shelf}/papers/{paper_id}/citations", {
      path: { shelf, paper_id: paper.paper_id },
      signal,
    }),
  );
  return (
    <Dialog title={texts.citeTitle} kind="wide" onClose={onClose}>
      <Loaded resource={citations}>
        {(reply) => <Formats citations={reply.citations} name={paper.citation_key || paper.paper_id} />}
      </Loaded>
    </Dialog>
  );
}

function Formats({ citations, name }: { citations: readonly Citation[]; name: string }) {
  const [chosen, setChosen] = useState(citations[0]?.format ?? "");
  const citation = citations.find((one) => one.format === chosen);
  const element = useRef<HTMLElement>(null);
  useEffect(() => element.current?.querySelector("button")?.focus(), []); // Enter copies
  if (!citation) return null;
  return (
    <>
      <Choices
        label={texts.format}
        value={chosen}
        choices={citations.map((one) => ({ value: one.format, label: one.label }))}
        onChange={setChosen}
      />
      <CitationText citation={citation} />
      <footer ref={element}>
        <Button kind="primary" icon="copy" onClick={() => void copy(citation.text)}>
          {texts.copy}
        </Button>
        <Download citation={citation} name={name} />
      </footer>
    </>
  );
}

function CitationText({ citation }: { citation: Citation }) {
  const scroll = { tabIndex: 0, role: "region" as const, "aria-label": citation.label }; // also by keyboard
  return (
    <pre {...scroll} class="json citation-text" dir="auto">
      {citation.text.trim()}
    </pre>
  );
}

function Download({ citation, name }: { citation: Citation; name: string }) {
  const url = useMemo(
    () => URL.createObjectURL(new Blob([citation.text], { type: `${citation.media_type};charset=utf-8` })),
    [citation],
  );
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  const file = `${name.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 80)}.${citation.suffix}`;
  return (
    <a class="button plain" href={url} download={file}>
      {texts.download}
    </a>
  );
}

async function copy(text: string): Promise<void> {
  if (await copyText(text)) showToast(texts.copied);
  else showToast(commonTexts.actions.notCopied, "no");
}
