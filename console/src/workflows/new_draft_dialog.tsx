import { useState } from "preact/hooks";
import { TextField } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { api } from "../data/api.ts";
import { workflowTexts as texts } from "./strings.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: templates of workflows
const FIRST_TEXT = {
  inputs: { who: { type: "string", required: true, description: texts.firstDraft.who } },
  nodes: [
    {
      id: "greet",
      type: "echo",
      purpose: texts.firstDraft.greet,
      params: { message: texts.firstDraft.hello("${who}") },
    },
  ],
  edges: [],
  outputs: { greeting: { source: "${greet.echo}", description: texts.firstDraft.greeting } },
};
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: templates of workflows

/** Return what is wrong with the name of a workflow; the server also refuses a few names that systems reserve. */
export function findNameProblem(name: string): string | undefined {
  if (!name.trim()) return texts.nameRequired;
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$/.test(name.trim()) ? undefined : texts.nameProblem;
}

/** Ask for the name of a draft, write its first text, and call `onCreated`. A draft that exists is not replaced. */
export function NewDraftDialog(props: { document?: object; onClose: () => void; onCreated: (name: string) => void }) {
  const [name, setName] = useState("");
  const problem = findNameProblem(name);
  const submission = useSubmission({ name: problem });

  async function create(): Promise<void> {
    const document = (props.document ?? FIRST_TEXT) as Record<string, unknown>;
    await api.put("/api/drafts/{name}", { path: { name: name.trim() }, body: { document, create: true } });
    props.onClose();
    props.onCreated(name.trim());
  }

  return (
    <Dialog title={texts.newDraft} onClose={props.onClose}>
      <SubmitForm submission={submission} action={texts.create} onSubmit={create} onCancel={props.onClose}>
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          value={name}
          problem={name ? problem : submission.problems.name}
          onInput={setName}
          maxLength={100}
          isMono
          autoFocus
        />
      </SubmitForm>
    </Dialog>
  );
}
