import { Dialog } from "../common/dialog.tsx";
import { Loaded } from "../common/states.tsx";
import { api } from "../data/api.ts";
import type { RunSummary } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { listForgotten, toTexts } from "../workflows/input_values.ts";
import { RunForm } from "../workflows/run_form.tsx";
import { runTexts } from "./strings.ts";

/** The form of the workflow with the inputs of a run; secrets and long inputs have to be given again. */
export function RunAgainDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const workflow = useResource(`workflow ${run.workflow}`, (signal) =>
    api.get("/api/workflows/{name}", { path: { name: run.workflow }, signal }),
  );
  return (
    <Dialog title={runTexts.again} onClose={onClose} kind="wide">
      <Loaded resource={workflow}>
        {(value) => (
          <RunForm
            workflow={value}
            draftKey={`again ${run.id}`}
            initial={toTexts(run.inputs)}
            forgotten={listForgotten(run.inputs)}
          />
        )}
      </Loaded>
    </Dialog>
  );
}
