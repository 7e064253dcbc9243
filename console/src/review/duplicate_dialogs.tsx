import { useState } from "preact/hooks";
import { Checkbox } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { PaperDetails } from "../data/api_types.ts";
import { toggle } from "../searches/start_dialog.tsx";
import type { ReviewStore } from "./review_store.ts";
import { reviewTexts } from "./strings.ts";

const texts = reviewTexts.duplicates;

/** Merge the chosen papers into the first of them, in the order of the list. */
export function MergeDialog(props: {
  store: ReviewStore;
  ids: readonly string[];
  onDone: () => void;
  onClose: () => void;
}) {
  const { store, onClose } = props;
  const submission = useSubmission();
  const rows = store.rows.value.filter((row) => props.ids.includes(row.id));
  async function merge(): Promise<void> {
    const path = { session_id: store.sessionId };
    await api.post("/api/searches/{session_id}/corrections/merge", {
      path,
      body: { papers: rows.map((row) => row.id) },
    });
    showToast(texts.waits);
    props.onDone();
  }
  return (
    <Dialog title={texts.mergeTitle(rows.length)} onClose={onClose}>
      <SubmitForm submission={submission} action={texts.merge} onSubmit={merge} onCancel={onClose}>
        <p>{texts.mergeText}</p>
        <ul>
          {rows.map((row) => (
            <li key={row.id} class="foreign" dir="auto">
              {row.title}
            </li>
          ))}
        </ul>
      </SubmitForm>
    </Dialog>
  );
}

/** Choose the records that are another paper. */
export function SplitDialog(props: {
  store: ReviewStore;
  paper: PaperDetails;
  chosen?: string | undefined;
  onClose: () => void;
}) {
  const { store, paper, onClose } = props;
  const records = paper.provenance.records.map((record) => ({ ...record, key: keyOf(record) }));
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set(props.chosen ? [props.chosen] : []));
  const submission = useSubmission();
  async function split(): Promise<void> {
    const path = { session_id: store.sessionId };
    const isAll = leaving.size === records.length;
    const named = isAll ? [] : records.filter((record) => leaving.has(record.key));
    const body = { paper: paper.id, records: named.map(({ source, record_id }) => ({ source, record_id })) };
    await api.post("/api/searches/{session_id}/corrections/split", { path, body });
    showToast(texts.waits);
    onClose();
  }
  return (
    <Dialog title={texts.splitTitle} onClose={onClose}>
      <SubmitForm
        submission={submission}
        action={texts.split}
        isDisabled={!leaving.size}
        onSubmit={split}
        onCancel={onClose}
      >
        <p>{texts.splitText}</p>
        {records.map((record) => (
          <Checkbox
            key={record.key}
            label={`${store.labelSource(record.source)} ${record.record_id} (${record.reason})`}
            isChecked={leaving.has(record.key)}
            onChange={() => setLeaving(toggle(leaving, record.key))}
          />
        ))}
      </SubmitForm>
    </Dialog>
  );
}

export function keyOf(record: { source: string; record_id: string }): string {
  return `${record.source} ${record.record_id}`;
}
