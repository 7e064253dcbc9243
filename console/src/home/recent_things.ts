/** What the home page lists of each part: a few things, each with a direct link. */
import type { Tone } from "../common/controls.tsx";
import type {
  DraftSummary,
  QuestionSummary,
  RunSummary,
  SavedWorkflow,
  SearchSummary,
  ShelfSummary,
  UniverseFacts,
} from "../data/api_types.ts";
import { formatPath } from "../data/router.ts";
import { describeState } from "../inbox/question_words.ts";
import { recallPlace } from "../review/verdict_drafts.ts";
import { describeRun } from "../runs/run_words.ts";
import { describePhase } from "../searches/search_tags.tsx";
import { homeTexts as texts } from "./strings.ts";

/** A thing that a person may continue with. */
export interface RecentThing {
  href: string;
  title: string;
  word?: string | undefined;
  tone?: Tone;
  /** A count, such as that of papers. */
  fact?: string;
  /** When it was used, as the server says. */
  at?: string | null;
}

const REVIEW = "result_review";

/** Return the questions that wait, without reviews: these are listed for themselves. */
export function listQuestions(questions: readonly QuestionSummary[]): RecentThing[] {
  return questions
    .filter((one) => one.kind !== REVIEW)
    .map((one) => {
      const { tag, tone } = describeState(one.kind, one);
      return { href: formatPath("/inbox/{id}", { id: one.id }), title: one.title, word: tag, tone, at: one.created_at };
    });
}

function isOpenReview(search: SearchSummary): boolean {
  return search.phase === "waiting" && search.checkpoint_kind === REVIEW;
}

/** Return the reviews that are open, each where this window was last. */
export function listReviews(searches: readonly SearchSummary[]): RecentThing[] {
  return searches.filter(isOpenReview).map((one) => ({
    href: recallPlace(one.session_id),
    title: one.query,
    fact: one.paper_count === null ? "" : texts.review.papers(one.paper_count),
    at: one.last_used_at,
  }));
}

/** Return the searches that are not in the list of reviews. */
export function listSearches(searches: readonly SearchSummary[]): RecentThing[] {
  return searches
    .filter((one) => !isOpenReview(one))
    .map((one) => ({
      href: formatPath("/searches/{id}", { id: one.session_id }),
      title: one.query || one.session_id,
      ...describePhase(one),
      at: one.last_used_at,
    }));
}

/** Return the shelves that can be read, those of the person before the sample. */
export function listShelves(shelves: readonly ShelfSummary[]): RecentThing[] {
  const usable = shelves.filter((one) => one.problem === null);
  return [...usable.filter((one) => !one.is_sample), ...usable.filter((one) => one.is_sample)].map((one) => ({
    href: formatPath("/library/{shelf}", { shelf: one.name }),
    title: one.name,
    word: one.is_sample ? texts.read.sample : undefined,
    fact: texts.read.papers(one.papers),
    at: one.built_at,
  }));
}

/** Return the last runs; without any, the workflows that could be run. */
export function listRuns(
  runs: readonly RunSummary[],
  workflows: readonly (SavedWorkflow | DraftSummary)[],
): RecentThing[] {
  if (runs.length) {
    return runs.map((one) => ({
      href: formatPath("/runs/{id}", { id: one.id }),
      title: one.workflow,
      ...describeRun(one),
      at: one.started_at,
    }));
  }
  return workflows.map((one) => ({
    href: formatPath("/workflows/{name}", { name: one.name }),
    title: one.name,
    fact: texts.run.workflow,
    at: one.updated_at,
  }));
}

export function listUniverses(universes: readonly UniverseFacts[]): RecentThing[] {
  return universes.map((one) => ({
    href: formatPath("/universes/{id}", { id: one.id }),
    title: one.name,
    fact: texts.explore.version(one.version),
    at: one.updatedAt,
  }));
}
