import { Button } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { api } from "../data/api.ts";
import { useResource } from "../data/resource.ts";
import { SourceResults } from "./source_results.tsx";
import { searchTexts } from "./strings.ts";

/** What each source did in the last round that searched. */
export function SourceResultsDialog({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const progress = useResource(`sources ${sessionId}`, (signal) =>
    api.get("/api/searches/{session_id}/sources", { path: { session_id: sessionId }, signal }),
  );
  return (
    <Dialog
      title={searchTexts.sourceResults.title}
      onClose={onClose}
      kind="wide"
      footer={<Button onClick={onClose}>{commonTexts.actions.close}</Button>}
    >
      <Loaded resource={progress}>{(value) => <SourceResults reports={value.sources} />}</Loaded>
    </Dialog>
  );
}
