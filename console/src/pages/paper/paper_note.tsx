import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import type { PaperMetadata, PaperNoteReply } from "../../api_types.ts";
import { TextField } from "../../components/controls.tsx";
import { Loaded } from "../../components/states.tsx";
import { SubmitForm, useSubmission } from "../../components/submit_form.tsx";
import { When } from "../../components/time.tsx";
import { useDraft } from "../../draft.ts";
import { useResource } from "../../resource.ts";
import { strings } from "../../strings.ts";
import { makeNotesAddress } from "../library/note_list.tsx";

const texts = strings.paper;

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
  // The note that was read when the form opened: a change of somebody else is found when saving
  const [known] = useState(note);
  const draft = useDraft(`note ${shelf} ${known.paper_id}`, known.text, known.revision);
  const [collections, setCollections] = useState(known.collections.join(", "));
  const submission = useSubmission();
  async function save(): Promise<void> {
    const names = collections.split(",").filter((name) => name.trim());
    const saved = await api.put("/api/shelves/{shelf}/papers/{paper_id}/note", {
      path: { shelf, paper_id: known.paper_id },
      body: { text: draft.text.value, collections: names, revision: known.revision },
    });
    draft.clear();
    props.onSaved(saved);
  }
  return (
    <SubmitForm submission={submission} action={strings.actions.save} onSubmit={save} onCancel={props.onClose}>
      <TextField
        label={texts.noteLabel}
        value={draft.text.value}
        onInput={(text) => {
          draft.text.value = text;
        }}
        lines={6}
        maxLength={20_000}
        autoFocus
      />
      <TextField
        label={texts.collections}
        hint={texts.collectionsHint}
        value={collections}
        onInput={setCollections}
        maxLength={2_000}
      />
    </SubmitForm>
  );
}
