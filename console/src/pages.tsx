import type { IconName } from "./common/icon.tsx";
import { commonTexts } from "./common/strings.ts";
import { matchPath, type Params } from "./data/router.ts";
import type { PageComponent } from "./frame/lazy_page.tsx";
import { lazyPage } from "./frame/lazy_page.tsx";
import { NotFoundPage } from "./frame/not_found_page.tsx";
import { HomePage } from "./home/home_page.tsx";
import { SettingsPage } from "./settings/settings_page.tsx";

/** A page of the console: the form of its addresses, the name in the window's title, and its component. */
interface ConsolePage {
  path: string;
  title: string;
  component: PageComponent;
}

const names = commonTexts.pages;

const INBOX = lazyPage(async () => (await import("./inbox/inbox_page.tsx")).InboxPage);
const STORY = lazyPage(async () => (await import("./story/story_page.tsx")).StoryPage);
const REVIEW = lazyPage(async () => (await import("./review/review_page.tsx")).ReviewPage);

/** All pages. A page that few visits need is loaded when it is shown: `lazyPage(() => import(...))`. */
export const PAGES: readonly ConsolePage[] = [
  { path: "/", title: names.home, component: HomePage },
  { path: "/inbox", title: names.inbox, component: INBOX },
  { path: "/inbox/{id}", title: names.inbox, component: INBOX },
  {
    path: "/searches",
    title: names.searches,
    component: lazyPage(async () => (await import("./searches/searches_page.tsx")).SearchesPage),
  },
  {
    path: "/searches/{id}",
    title: names.searches,
    component: lazyPage(async () => (await import("./searches/search_page.tsx")).SearchPage),
  },
  {
    path: "/searches/{id}/strategy",
    title: names.plan,
    component: lazyPage(async () => (await import("./searches/search_page.tsx")).PlanPage),
  },
  {
    path: "/searches/{id}/progress",
    title: names.progress,
    component: lazyPage(async () => (await import("./review/review_page.tsx")).ReviewProgressPage),
  },
  { path: "/searches/{id}/review", title: names.review, component: REVIEW },
  { path: "/searches/{id}/review/{paper}", title: names.review, component: REVIEW },
  { path: "/story", title: names.story, component: STORY },
  { path: "/story/{step}", title: names.story, component: STORY },
  {
    path: "/library",
    title: names.library,
    component: lazyPage(async () => (await import("./library/library_page.tsx")).LibraryPage),
  },
  {
    path: "/library/{shelf}",
    title: names.library,
    component: lazyPage(async () => (await import("./library/shelf_page.tsx")).ShelfPage),
  },
  {
    path: "/library/{shelf}/{paper}",
    title: names.paper,
    component: lazyPage(async () => (await import("./library/paper_page.tsx")).PaperPage),
  },
  {
    path: "/universes",
    title: names.universes,
    component: lazyPage(async () => (await import("./universes/universes_page.tsx")).UniversesPage),
  },
  {
    path: "/universes/{id}",
    title: names.universes,
    component: lazyPage(async () => (await import("./universes/universe_page.tsx")).UniversePage),
  },
  {
    path: "/workflows",
    title: names.workflows,
    component: lazyPage(async () => (await import("./workflows/workflows_page.tsx")).WorkflowsPage),
  },
  {
    path: "/workflows/{name}",
    title: names.workflows,
    component: lazyPage(async () => (await import("./workflows/workflow_page.tsx")).WorkflowPage),
  },
  {
    path: "/workflows/{name}/edit",
    title: names.editor,
    component: lazyPage(async () => (await import("./workflows/workflow_editor_page.tsx")).WorkflowEditorPage),
  },
  {
    path: "/runs/{id}",
    title: names.run,
    component: lazyPage(async () => (await import("./runs/run_page.tsx")).RunPage),
  },
  {
    path: "/runs/{id}/compare/{other}",
    title: names.comparison,
    component: lazyPage(async () => (await import("./runs/run_comparison_page.tsx")).RunComparisonPage),
  },
  {
    path: "/connections",
    title: names.connections,
    component: lazyPage(async () => (await import("./settings/connections_page.tsx")).ConnectionsPage),
  },
  { path: "/settings", title: names.settings, component: SettingsPage },
  ...(DEVELOPMENT
    ? [
        {
          path: "/styleguide",
          title: names.styleguide,
          component: lazyPage(async () => (await import("./styleguide/styleguide_page.tsx")).StyleguidePage),
        },
      ]
    : []),
];

/** An entry of the navigation; `g` and its key go there. */
export interface NavigationEntry {
  href: string;
  label: string;
  icon: IconName;
  key: string;
  /** Another beginning of the addresses of this part. */
  alsoAt?: string;
  /** At the bottom on wide screens, and behind “More” on a phone. */
  isSecondary?: boolean;
  /** Only on wide screens: a phone has the name of the product for it. */
  isWideOnly?: boolean;
}

export const NAVIGATION: readonly NavigationEntry[] = [
  { href: "/", label: names.home, icon: "home", key: "h", isWideOnly: true },
  { href: "/inbox", label: names.inbox, icon: "inbox", key: "i" },
  { href: "/searches", label: names.searches, icon: "search", key: "s" },
  { href: "/library", label: names.library, icon: "book", key: "l" },
  { href: "/workflows", label: names.workflows, icon: "flow", key: "w", alsoAt: "/runs" },
  { href: "/universes", label: names.universes, icon: "universe", key: "u" },
  { href: "/story", label: names.story, icon: "story", key: "t", isSecondary: true },
  { href: "/connections", label: names.connections, icon: "plug", key: "c", isSecondary: true },
  { href: "/settings", label: names.settings, icon: "settings", key: ",", isSecondary: true },
];

/** Return the page of an address and the parameters in it. */
export function findPage(path: string): { page: ConsolePage; params: Params } {
  for (const page of PAGES) {
    const params = matchPath(page.path, path);
    if (params) return { page, params };
  }
  return { page: { path, title: commonTexts.errors.notFound, component: NotFoundPage }, params: {} };
}

/** Return whether a navigation entry leads to the part of the console that an address is in. */
export function isInPart(entry: NavigationEntry, path: string): boolean {
  const beginnings = [entry.href, ...(entry.alsoAt ? [entry.alsoAt] : [])];
  return beginnings.some((beginning) => path === beginning || (beginning !== "/" && path.startsWith(`${beginning}/`)));
}
