import { api } from "../../api.ts";
import type { RunSummary } from "../../api_types.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Loaded } from "../../components/states.tsx";
import { useResource } from "../../resource.ts";
import { strings } from "../../strings.ts";
import { listForgotten, toTexts } from "../workflows/input_values.ts";
import { RunForm } from "../workflows/run_form.tsx";

/** The form of the workflow with the inputs of a run; secrets and long inputs have to be given again. */
export function RunAgainDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const workflow = useResource(`workflow ${run.workflow}`, (signal) =>
    api.get("/api/workflows/{name}", { path: { name: run.workflow }, signal }),
  );
  return (
    <Dialog title={strings.run.again} onClose={onClose} kind="wide">
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
