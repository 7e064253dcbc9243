import { useState } from "preact/hooks";
import { api } from "../../api.ts";
import { ApiError, toApiError } from "../../api_error.ts";
import { Button, TextField } from "../../components/controls.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/states.tsx";
import { strings } from "../../strings.ts";

const texts = strings.workflows;
// biome-ignore-start lint/suspicious/noTemplateCurlyInString: templates of workflows
const FIRST_TEXT = {
  inputs: { who: { type: "string", required: true, description: "Who is greeted." } },
  nodes: [{ id: "greet", type: "echo", purpose: "Greet somebody.", params: { message: "Hello ${who}" } }],
  edges: [],
  outputs: { greeting: { source: "${greet.echo}", description: "The greeting." } },
};
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: templates of workflows

/** Ask for the name of a draft, write its first text, and call `onCreated`. A draft that exists is not replaced. */
export function NewDraftDialog(props: { document?: object; onClose: () => void; onCreated: (name: string) => void }) {
  const [name, setName] = useState("");
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);

  async function create(event: Event): Promise<void> {
    event.preventDefault();
    if (!name.trim() || isBusy) return;
    setBusy(true);
    try {
      await requireFree(name.trim());
      const document = (props.document ?? FIRST_TEXT) as Record<string, unknown>;
      await api.put("/api/drafts/{name}", { path: { name: name.trim() }, body: { document } });
      props.onClose();
      props.onCreated(name.trim());
    } catch (thrown) {
      setError(toApiError(thrown));
      setBusy(false);
    }
  }

  return (
    <Dialog title={texts.newDraft} onClose={props.onClose}>
      <form class="form" onSubmit={(event) => void create(event)}>
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          value={name}
          onInput={setName}
          maxLength={100}
          isMono
          autoFocus
        />
        {error && <ErrorNote error={error} />}
        <footer class="form-footer">
          <Button type="submit" kind="primary" isBusy={isBusy} isDisabled={!name.trim()}>
            {texts.create}
          </Button>
          <Button onClick={props.onClose}>{strings.actions.cancel}</Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Throw an ApiError if there is a workflow of this name. */
async function requireFree(name: string): Promise<void> {
  try {
    await api.get("/api/workflows/{name}/document", { path: { name } });
  } catch (thrown) {
    const error = toApiError(thrown);
    if (error.code === "workflow_not_found") return;
    throw error;
  }
  throw new ApiError(texts.nameTaken(name), texts.nameTakenHint, "already_exists", 409);
}
