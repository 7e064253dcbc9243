/** What the home page offers to do. */
import { commonTexts } from "../common/strings.ts";
import type {
  DraftSummary,
  QuestionSummary,
  RunSummary,
  SavedWorkflow,
  SearchSummary,
  ShelfSummary,
  UniverseFacts,
} from "../data/api_types.ts";
import {
  listQuestions,
  listReviews,
  listRuns,
  listSearches,
  listShelves,
  listUniverses,
  type RecentThing,
} from "./recent_things.ts";
import { homeTexts as texts } from "./strings.ts";

/** The key that starts a search. */
export const SEARCH_KEY = "n";

/** The contents of the home page; a part is undefined while it is not read. */
export interface HomeContents {
  questions: readonly QuestionSummary[] | undefined;
  /** How many questions wait, reviews among them. */
  waitingCount: number;
  searches: readonly SearchSummary[] | undefined;
  shelves: readonly ShelfSummary[] | undefined;
  runs: { runs: readonly RunSummary[]; workflows: readonly (SavedWorkflow | DraftSummary)[] } | undefined;
  universes: readonly UniverseFacts[] | undefined;
}

/** Something to do, what was used for it last, and a button that begins it. */
export interface Offer {
  /** The part whose data the offer shows. */
  part: "questions" | "searches" | "shelves" | "runs" | "universes";
  title: string;
  things: readonly RecentThing[] | undefined;
  /** What this is for, if there is nothing yet. */
  empty: string;
  action: { label: string; href: string; key?: string };
  /** The page with all things. */
  all: { label: string; href: string };
  /** Whether the things wait for this person. */
  isWaiting?: boolean;
}

const names = commonTexts.pages;

/** Return the offers in their order on the page, which does not change. */
export function makeOffers(contents: HomeContents): Offer[] {
  const { waitingCount } = contents;
  const reviews = contents.searches && listReviews(contents.searches);
  const [review] = reviews ?? [];
  const questions = contents.questions && listQuestions(contents.questions);
  const runs = contents.runs && listRuns(contents.runs.runs, contents.runs.workflows);
  return [
    {
      part: "searches",
      title: texts.search.title,
      things: contents.searches && listSearches(contents.searches),
      empty: texts.search.empty,
      action: { label: texts.search.action, href: "/searches?new=1", key: SEARCH_KEY },
      all: { label: names.searches, href: "/searches" },
    },
    {
      part: "searches",
      title: texts.review.title,
      things: reviews,
      empty: texts.review.empty,
      action: review
        ? { label: texts.review.action, href: review.href }
        : { label: texts.review.searches, href: "/searches" },
      all: { label: texts.review.all, href: "/searches?phase=waiting" },
      isWaiting: review !== undefined,
    },
    {
      part: "questions",
      title: texts.decide.title,
      things: questions,
      empty: texts.decide.empty,
      action: waitingCount
        ? { label: texts.decide.action, href: "/inbox" }
        : { label: texts.decide.connect, href: "/connections" },
      all: { label: waitingCount ? texts.all(waitingCount) : names.inbox, href: "/inbox" },
      isWaiting: Boolean(questions?.length),
    },
    {
      part: "shelves",
      title: texts.read.title,
      things: contents.shelves && listShelves(contents.shelves),
      empty: texts.read.empty,
      action: { label: texts.read.action, href: "/library" },
      all: { label: names.library, href: "/library" },
    },
    {
      part: "runs",
      title: texts.run.title,
      things: runs,
      empty: texts.run.empty,
      action:
        runs?.length === 0
          ? { label: texts.run.write, href: "/workflows?new=1" }
          : { label: texts.run.action, href: "/workflows" },
      all: { label: names.runs, href: "/workflows?view=runs" },
    },
    {
      part: "universes",
      title: texts.explore.title,
      things: contents.universes && listUniverses(contents.universes),
      empty: texts.explore.empty,
      action: { label: texts.explore.action, href: "/universes?new=1" },
      all: { label: names.universes, href: "/universes" },
    },
  ];
}

/** Return the offer whose button is the main one: the first that waits for the person, else that to search. */
export function findMainOffer(offers: readonly Offer[]): Offer | undefined {
  return offers.find((offer) => offer.isWaiting) ?? offers[0];
}
