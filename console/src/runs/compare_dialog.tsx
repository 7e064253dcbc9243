import { Tag } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { EmptyState, Loaded } from "../common/states.tsx";
import { When } from "../common/time.tsx";
import { api } from "../data/api.ts";
import type { RunSummary } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { formatPath } from "../data/router.ts";
import { describeInputs } from "./run_list.tsx";
import { describeRun, shortenId } from "./run_words.ts";
import { runTexts as texts } from "./strings.ts";

/** Choose another run of the same workflow to compare with. */
export function CompareDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const runs = useResource(`compare ${run.workflow}`, (signal) =>
    api.get("/api/runs", { query: { workflow: run.workflow, limit: 50 }, signal }),
  );
  return (
    <Dialog title={texts.compareWith} onClose={onClose}>
      <Loaded resource={runs}>
        {(page) => {
          const others = page.runs.filter((one) => one.id !== run.id);
          if (!others.length) return <EmptyState title={texts.noOther} hint={texts.noOtherHint} />;
          return (
            <ul class="choice-list" aria-label={texts.compareWith}>
              {others.map((one) => {
                const [first, second] = one.started_at < run.started_at ? [one, run] : [run, one];
                const { word, tone } = describeRun(one);
                return (
                  <li key={one.id}>
                    <a href={formatPath("/runs/{id}/compare/{other}", { id: first.id, other: second.id })}>
                      <Tag tone={tone}>{word}</Tag>
                      <When at={one.started_at} />
                      <span dir="auto">{describeInputs(one.inputs)}</span>
                      <code>{shortenId(one.id)}</code>
                    </a>
                  </li>
                );
              })}
            </ul>
          );
        }}
      </Loaded>
    </Dialog>
  );
}
