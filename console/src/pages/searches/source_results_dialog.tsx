import { api } from "../../api.ts";
import { Button } from "../../components/controls.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Loaded } from "../../components/states.tsx";
import { useResource } from "../../resource.ts";
import { strings } from "../../strings.ts";
import { SourceResults } from "./source_results.tsx";

/** What each source did in the last round that searched. */
export function SourceResultsDialog({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const progress = useResource(`sources ${sessionId}`, (signal) =>
    api.get("/api/searches/{session_id}/sources", { path: { session_id: sessionId }, signal }),
  );
  return (
    <Dialog
      title={strings.sourceResults.title}
      onClose={onClose}
      kind="wide"
      footer={<Button onClick={onClose}>{strings.actions.close}</Button>}
    >
      <Loaded resource={progress}>{(value) => <SourceResults reports={value.sources} />}</Loaded>
    </Dialog>
  );
}
