import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { Button, ButtonLink, TextField } from "../common/controls.tsx";
import { ConfirmDialog, Dialog } from "../common/dialog.tsx";
import { Card, PlainPage } from "../common/layout.tsx";
import { EmptyState, ErrorMessage, ErrorNote, ErrorState, Loaded, LoadingState } from "../common/states.tsx";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { showToast, Toasts } from "../common/toasts.tsx";
import { ApiError, makeOfflineError } from "../data/api_error.ts";
import { useKeys } from "../data/keys.ts";
import { KeyHelp } from "../frame/key_help.tsx";
import { ConnectionState } from "../frame/navigation.tsx";
import { Palette } from "../frame/palette.tsx";
import { ForeignTexts, PaperText, Rows, Tables, ThreePanes } from "./content_samples.tsx";
import { Buttons, Fields, Marks, Verdicts } from "./control_samples.tsx";

const refused = new ApiError("max_results must be between 1 and 20,000, got 0.", "Use 100.", "invalid_input", 422);
const OVERLAYS = ["Question", "Form", "Keys", "Palette", "Messages"] as const;
type Overlay = (typeof OVERLAYS)[number];
const doNothing = () => undefined;
const ENTRIES = [
  { group: "Go to", label: "Go to Inbox", keys: "g i", run: doNothing },
  { group: "Papers", label: "Seven temperate planets", detail: "Gillon et al. 2017", isForeign: true, run: doNothing },
];
const outdated = {
  value: signal("A value that is still shown"),
  error: signal(refused),
  isLoading: signal(false),
  reload: doNothing,
  set: doNothing,
  start: () => doNothing,
};

/** Every component in every state; only in development builds. */
export function StyleguidePage() {
  const [overlay, setOverlay] = useState<Overlay>();
  useKeys("On this page", [
    { keys: "j", label: "Next", run: doNothing },
    { keys: "g i", label: "Go to Inbox", run: doNothing },
  ]);
  function open(name: Overlay): void {
    setOverlay(name);
    if (name !== "Messages") return;
    showToast("Approved.");
    showToast("The server does not answer.", "no");
  }
  return (
    <PlainPage title="Style guide">
      <Buttons />
      <Marks />
      <Fields />
      <Verdicts />
      <Tables />
      <ForeignTexts />
      <PaperText />
      <Rows />
      <ThreePanes />
      <States />
      <Card title="Above the page">
        <div class="card-body overlays">
          <div class="tags">
            {OVERLAYS.map((name) => (
              <Button key={name} onClick={() => open(name)}>
                {name}
              </Button>
            ))}
          </div>
        </div>
      </Card>
      <Toasts />
      <Overlays name={overlay} onClose={() => setOverlay(undefined)} />
    </PlainPage>
  );
}

function States() {
  return (
    <Card title="States">
      <div class="card-body tags">
        {(["connecting", "live", "reconnecting"] as const).map((state) => (
          <ConnectionState key={state} state={state} />
        ))}
      </div>
      <EmptyState
        title="Nothing waits for you."
        hint="The next question will appear here."
        command="uraniborg serve --open"
      >
        <ButtonLink href="/styleguide">Start a search</ButtonLink>
      </EmptyState>
      <LoadingState />
      <ErrorState error={refused} onRetry={doNothing} />
      <ErrorNote error={makeOfflineError()} onRetry={doNothing} />
      <div class="card-body">
        <Loaded resource={outdated}>{(value) => <p>{value}</p>}</Loaded>
        <ErrorMessage text={"The node failed.\nTraceback:\n  line 1"} />
      </div>
    </Card>
  );
}

function Overlays({ name, onClose }: { name: Overlay | undefined; onClose: () => void }) {
  switch (name) {
    case "Question":
      return (
        <ConfirmDialog
          title="Delete this search?"
          text="Its papers and decisions are deleted, too. This cannot be undone."
          action="Delete"
          onConfirm={async () => undefined}
          onClose={onClose}
        />
      );
    case "Form":
      return <FormDialog onClose={onClose} />;
    case "Keys":
      return <KeyHelp onClose={onClose} />;
    case "Palette":
      return <Palette entries={ENTRIES} onClose={onClose} />;
    default:
      return null;
  }
}

/** A form that the server has refused, in a dialog with a footer. */
function FormDialog({ onClose }: { onClose: () => void }) {
  const submission = { ...useSubmission(), error: refused };
  return (
    <Dialog title="Start a search" onClose={onClose} kind="wide" footer={<p class="quiet">A footer</p>}>
      <SubmitForm submission={submission} action="Start" onSubmit={async () => undefined} onCancel={onClose}>
        <TextField label="What are you looking for?" value="moons" onInput={doNothing} lines={2} autoFocus />
      </SubmitForm>
    </Dialog>
  );
}
