import { commonTexts } from "../common/strings.ts";
import { workflowTexts as texts } from "./strings.ts";

export type WorkflowView = "workflows" | "runs" | "schedules";

/** The views of all workflows: the library with drafts, the runs, and the schedules. */
export function WorkflowViews({ current }: { current: WorkflowView }) {
  return (
    <nav class="views" aria-label={texts.views}>
      {(["workflows", "runs", "schedules"] as const).map((view) => (
        <a
          key={view}
          href={view === "workflows" ? "/workflows" : `/workflows?view=${view}`}
          aria-current={view === current ? "page" : undefined}
        >
          {commonTexts.pages[view]}
        </a>
      ))}
    </nav>
  );
}
