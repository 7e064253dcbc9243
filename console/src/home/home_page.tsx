import type { ComponentChildren } from "preact";
import { ButtonLink, Tag } from "../common/controls.tsx";
import { Card, PlainPage } from "../common/layout.tsx";
import { ErrorNote, ErrorState, LoadingState } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { Age } from "../common/time.tsx";
import { api } from "../data/api.ts";
import { makeListKeys, useKeys } from "../data/keys.ts";
import { type Resource, useResource } from "../data/resource.ts";
import { navigate } from "../data/router.ts";
import { waiting, waitingCount } from "../inbox/waiting_list.ts";
import { isRunChange } from "../runs/run_words.ts";
import { findMainOffer, makeOffers, type Offer, SEARCH_KEY } from "./offers.ts";
import type { RecentThing } from "./recent_things.ts";
import { homeTexts as texts } from "./strings.ts";

const SHOWN = 3;
/** How many searches are read: the open reviews among them are listed for themselves. */
const SEARCHES = 20;

/** What a person may want to do: decide, review, search, read, run and explore, each with what was used last. */
export function HomePage() {
  const searches = useResource(
    "home searches",
    (signal) => api.get("/api/searches", { query: { limit: SEARCHES }, signal }),
    (change) => ["session", "inbox"].includes(change.kind),
  );
  const shelves = useResource(
    "home shelves",
    (signal) => api.get("/api/shelves", { signal }),
    (change) => change.kind === "shelf",
  );
  const runs = useResource(
    "home runs",
    async (signal) => {
      const { runs } = await api.get("/api/runs", { query: { limit: SHOWN }, signal });
      if (runs.length) return { runs, workflows: [] };
      const { workflows, drafts } = await api.get("/api/workflows", { signal });
      return { runs, workflows: [...workflows, ...drafts] };
    },
    (change) => isRunChange(change) || change.kind === "workflow",
  );
  const universes = useResource(
    "home universes",
    (signal) => api.get("/api/universes", { query: { limit: SHOWN }, signal }),
    (change) => change.kind === "universe",
  );
  useKeys(commonTexts.pages.home, [
    { keys: SEARCH_KEY, label: texts.search.action, run: () => navigate("/searches?new=1") },
    ...makeListKeys(".home-thing a"),
  ]);
  const resources = { questions: waiting.first, searches, shelves, runs, universes };
  const unread: Resource<unknown>[] = Object.values(resources).filter((one) => one.value.value === undefined);
  // All at once, so that no card moves another when it arrives
  if (unread.some((one) => !one.error.value))
    return (
      <HomeFrame>
        <LoadingState />
      </HomeFrame>
    );
  const [first] = unread;
  if (first?.error.value && unread.includes(searches) && unread.includes(shelves)) {
    const retry = () => {
      for (const one of unread) one.reload();
    };
    return (
      <HomeFrame>
        <ErrorState error={first.error.value} onRetry={retry} />
      </HomeFrame>
    );
  }
  const offers = makeOffers({
    questions: waiting.rows.value,
    waitingCount: waitingCount.value,
    searches: searches.value.value?.sessions,
    shelves: shelves.value.value?.shelves,
    runs: runs.value.value,
    universes: universes.value.value?.universes,
  });
  const main = findMainOffer(offers);
  return (
    <HomeFrame>
      <div class="home-offers">
        {offers.map((offer) => (
          <OfferCard key={offer.title} offer={offer} resource={resources[offer.part]} isMain={offer === main} />
        ))}
      </div>
      <p class="quiet small">
        {texts.newHere} <a href="/story">{texts.story}</a>
      </p>
    </HomeFrame>
  );
}

function HomeFrame({ children }: { children: ComponentChildren }) {
  return <PlainPage title={texts.title}>{children}</PlainPage>;
}

function OfferCard({ offer, resource, isMain }: { offer: Offer; resource: Resource<unknown>; isMain: boolean }) {
  const { action, all, things } = offer;
  const error = resource.error.value;
  return (
    <Card title={offer.title} aside={<a href={all.href}>{all.label}</a>}>
      {error && <ErrorNote error={error} onRetry={resource.reload} />}
      {things?.length === 0 && <p class="home-empty quiet">{offer.empty}</p>}
      {things && things.length > 0 && (
        <ul aria-label={offer.title}>
          {things.slice(0, SHOWN).map((thing) => (
            <Thing key={thing.href} thing={thing} />
          ))}
        </ul>
      )}
      <footer>
        <ButtonLink href={action.href} kind={isMain ? "primary" : "plain"} keyHint={action.key}>
          {action.label}
        </ButtonLink>
      </footer>
    </Card>
  );
}

function Thing({ thing }: { thing: RecentThing }) {
  return (
    <li class="home-thing">
      <a href={thing.href} dir="auto" title={thing.title}>
        {thing.title}
      </a>
      <span class="home-thing-facts quiet small">
        {thing.word && <Tag tone={thing.tone ?? "neutral"}>{thing.word}</Tag>}
        {thing.fact && <span>{thing.fact}</span>}
        {thing.at && <Age at={thing.at} />}
      </span>
    </li>
  );
}
