import { strings } from "../../strings.ts";

const texts = strings.workflows;
export type WorkflowView = "library" | "runs" | "schedules";

/** The views of all workflows: the library with drafts, the runs, and the schedules. */
export function WorkflowViews({ current }: { current: WorkflowView }) {
  return (
    <nav class="views" aria-label={texts.views}>
      {(["library", "runs", "schedules"] as const).map((view) => (
        <a
          key={view}
          href={view === "library" ? "/workflows" : `/workflows?view=${view}`}
          aria-current={view === current ? "page" : undefined}
        >
          {texts.viewNames[view]}
        </a>
      ))}
    </nav>
  );
}
