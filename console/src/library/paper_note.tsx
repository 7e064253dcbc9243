import { useState } from "preact/hooks";
import { Button, TextField } from "../common/controls.tsx";
import { Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { When } from "../common/time.tsx";
import { api } from "../data/api.ts";
import type { PaperMetadata, PaperNoteReply } from "../data/api_types.ts";
import { readDraftRevision, useDraft } from "../data/draft.ts";
import { useResource } from "../data/resource.ts";
import { makeNotesAddress } from "./note_list.tsx";
import { libraryTexts } from "./strings.ts";

const texts = libraryTexts.paper;

/** The note on a paper and the collections that it is in, to read and to change. */
export function PaperNote({ shelf, paper }: { shelf: string; paper: PaperMetadata }) {
  const [isEditing, setEditing] = useState(false);
  const path = { shelf, paper_id: paper.paper_id };
  const note = useResource(
    `note ${shelf} ${paper.paper_id}`,
    (signal) => api.get("/api/shelves/{shelf}/papers/{paper_id}/note", { path, signal }),
    (change) => change.kind === "note" && change.subject === paper.paper_id,
  );
  return (
    <section aria-labelledby="paper-note">
      <h2 id="paper-note" class="section-title">
        {texts.note}
      </h2>
      <Loaded resource={note}>
        {(found) =>
          isEditing ? (
            <NoteForm
              shelf={shelf}
              note={found}
              onClose={() => setEditing(false)}
              onSaved={(saved) => {
                note.set(saved);
                setEditing(false);
              }}
            />
          ) : (
            <NoteText shelf={shelf} note={found} onEdit={() => setEditing(true)} />
          )
        }
      </Loaded>
    </section>
  );
}

function NoteText({ shelf, note, onEdit }: { shelf: string; note: PaperNoteReply; onEdit: () => void }) {
  const isEmpty = !note.text && !note.collections.length;
  return (
    <>
      {note.text && (
        <p class="note-text" dir="auto">
          {note.text}
        </p>
      )}
      {note.collections.length > 0 && (
        <ul class="value-links" aria-label={texts.collections}>
          {note.collections.map((name) => (
            <li key={name}>
              <a class="tag" href={makeNotesAddress(shelf, name)} dir="auto">
                {name}
              </a>
            </li>
          ))}
        </ul>
      )}
      {!isEmpty && (
        <p class="quiet small">
          {texts.noteBy(note.by)} <When at={note.at} />
        </p>
      )}
      <p>
        <button class="link-button" type="button" onClick={onEdit}>
          {isEmpty ? texts.addNote : texts.changeNote}
        </button>
      </p>
    </>
  );
}

function NoteForm(props: {
  shelf: string;
  note: PaperNoteReply;
  onClose: () => void;
  onSaved: (note: PaperNoteReply) => void;
}) {
  const { shelf, note } = props;
  const [known] = useState(note);
  const keys = { text: `note ${shelf} ${known.paper_id}`, collections: `collections ${shelf} ${known.paper_id}` };
  // The note that these words change, also if they were typed on an earlier visit
  const [base, setBase] = useState(
    () => readDraftRevision(keys.text) ?? readDraftRevision(keys.collections) ?? known.revision,
  );
  const text = useDraft(keys.text, known.text, base);
  const collections = useDraft(keys.collections, known.collections.join(", "), base);
  const submission = useSubmission();
  function clearDrafts(): void {
    text.clear();
    collections.clear();
  }
  async function save(): Promise<void> {
    const names = collections.text.value.split(",").filter((name) => name.trim());
    const saved = await api.put("/api/shelves/{shelf}/papers/{paper_id}/note", {
      path: { shelf, paper_id: known.paper_id },
      body: { text: text.text.value, collections: names, revision: base },
    });
    clearDrafts();
    props.onSaved(saved);
  }
  function replaceOther(): void {
    setBase(note.revision);
    submission.setError(undefined);
  }
  function cancel(): void {
    clearDrafts();
    props.onClose();
  }
  return (
    <SubmitForm submission={submission} action={commonTexts.actions.save} onSubmit={save} onCancel={cancel}>
      {note.revision !== base && <OtherNote note={note} onReplace={replaceOther} />}
      <TextField
        label={texts.noteLabel}
        value={text.text.value}
        onInput={(typed) => {
          text.text.value = typed;
        }}
        lines={6}
        maxLength={20_000}
        autoFocus
      />
      <TextField
        label={texts.collections}
        hint={texts.collectionsHint}
        value={collections.text.value}
        onInput={(typed) => {
          collections.text.value = typed;
        }}
        maxLength={2_000}
      />
    </SubmitForm>
  );
}

/** The note that somebody has saved meanwhile, and a button that lets the words of the form replace it. */
function OtherNote({ note, onReplace }: { note: PaperNoteReply; onReplace: () => void }) {
  return (
    <div class="note-box other-note" role="status">
      <p>{texts.noteChanged(note.by)}</p>
      <p class="note-text" dir="auto">
        {note.text || texts.noteEmpty}
      </p>
      {note.collections.length > 0 && (
        <p class="quiet small" dir="auto">
          {texts.collections}: {note.collections.join(", ")}
        </p>
      )}
      <Button onClick={onReplace}>{texts.replaceNote}</Button>
    </div>
  );
}
