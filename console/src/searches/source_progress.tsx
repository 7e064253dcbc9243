import { Card } from "../common/layout.tsx";
import { Loaded } from "../common/states.tsx";
import { api } from "../data/api.ts";
import { useResource } from "../data/resource.ts";
import { SourceResults } from "./source_results.tsx";
import { searchTexts } from "./strings.ts";

const texts = searchTexts.search;

/** What a search that works does now, and which sources have answered. */
export function SourceProgressCard({ sessionId }: { sessionId: string }) {
  const progress = useResource(
    `sources ${sessionId}`,
    (signal) => api.get("/api/searches/{session_id}/sources", { path: { session_id: sessionId }, signal }),
    (change) => change.subject === sessionId && ["session", "source"].includes(change.kind),
  );
  return (
    <Loaded resource={progress}>
      {(value) => (
        <Card
          title={texts.working[value.phase] ?? texts.working.working ?? ""}
          aside={texts.answered(value.sources.length, value.sources_asked)}
        >
          {value.sources.length > 0 && <SourceResults reports={value.sources} />}
        </Card>
      )}
    </Loaded>
  );
}
