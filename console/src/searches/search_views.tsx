import { Icon } from "../common/icon.tsx";
import { commonTexts } from "../common/strings.ts";
import { recallPlace } from "../review/verdict_drafts.ts";
import { searchTexts } from "./strings.ts";

const texts = searchTexts.search;

/** The two views of a search: its plan and its papers. `question` is for a page that does not show it elsewhere. */
export function SearchViews({
  sessionId,
  current,
  question,
}: {
  sessionId: string;
  current: "plan" | "review" | "progress";
  question?: string;
}) {
  return (
    <nav class="views" aria-label={texts.views}>
      <a href="/searches" class="up-link">
        <Icon name="back" />
        {commonTexts.pages.searches}
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
        {commonTexts.pages.progress}
      </a>
      {question && (
        <p class="views-question quiet small" dir="auto" title={question}>
          {question}
        </p>
      )}
    </nav>
  );
}
