import { Icon } from "../../components/icon.tsx";
import { strings } from "../../strings.ts";
import { recallPlace } from "./verdict_drafts.ts";

const texts = strings.search;

/** The two views of a search: its plan and its papers. */
export function SearchViews({ sessionId, current }: { sessionId: string; current: "plan" | "review" | "progress" }) {
  return (
    <nav class="views" aria-label={texts.views}>
      <a href="/searches" class="up-link">
        <Icon name="back" />
        {strings.searches.title}
      </a>
      <a href={`/searches/${sessionId}/strategy`} aria-current={current === "plan" ? "page" : undefined}>
        {texts.plan}
      </a>
      <a href={recallPlace(sessionId)} aria-current={current === "review" ? "page" : undefined}>
        {texts.review}
      </a>
      <a
        class="narrow-only"
        href={`/searches/${sessionId}/progress`}
        aria-current={current === "progress" ? "page" : undefined}
      >
        {strings.review.progress}
      </a>
    </nav>
  );
}
