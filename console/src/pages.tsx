import type { IconName } from "./components/icon.tsx";
import type { PageComponent } from "./components/lazy_page.tsx";
import { lazyPage } from "./components/lazy_page.tsx";
import { InboxPage } from "./pages/inbox.tsx";
import { NotFoundPage } from "./pages/not_found.tsx";
import { SettingsPage } from "./pages/settings.tsx";
import { matchPath, type Params } from "./router.ts";
import { strings } from "./strings.ts";

/** A page of the console: the form of its addresses, the name in the window's title, and its component. */
export interface Page {
  path: string;
  title: string;
  component: PageComponent;
}

const names = strings.navigation;

const STORY = lazyPage(async () => (await import("./pages/story.tsx")).StoryPage);
const REVIEW = lazyPage(async () => (await import("./pages/review.tsx")).ReviewPage);

/** All pages. A page that few visits need is loaded when it is shown: `lazyPage(() => import(...))`. */
export const PAGES: readonly Page[] = [
  { path: "/", title: names.inbox, component: InboxPage },
  { path: "/inbox", title: names.inbox, component: InboxPage },
  { path: "/inbox/{id}", title: names.inbox, component: InboxPage },
  {
    path: "/searches",
    title: names.searches,
    component: lazyPage(async () => (await import("./pages/searches.tsx")).SearchesPage),
  },
  {
    path: "/searches/{id}",
    title: names.searches,
    component: lazyPage(async () => (await import("./pages/search.tsx")).SearchPage),
  },
  {
    path: "/searches/{id}/strategy",
    title: strings.strategy.tag,
    component: lazyPage(async () => (await import("./pages/search.tsx")).PlanPage),
  },
  {
    path: "/searches/{id}/progress",
    title: strings.review.progress,
    component: lazyPage(async () => (await import("./pages/review.tsx")).ReviewProgressPage),
  },
  { path: "/searches/{id}/review", title: strings.review.keyTitle, component: REVIEW },
  { path: "/searches/{id}/review/{paper}", title: strings.review.keyTitle, component: REVIEW },
  { path: "/story", title: strings.story.title, component: STORY },
  { path: "/story/{step}", title: strings.story.title, component: STORY },
  {
    path: "/library",
    title: names.library,
    component: lazyPage(async () => (await import("./pages/library.tsx")).LibraryPage),
  },
  {
    path: "/library/{shelf}",
    title: names.library,
    component: lazyPage(async () => (await import("./pages/library.tsx")).ShelfPage),
  },
  {
    path: "/library/{shelf}/{paper}",
    title: strings.paper.title,
    component: lazyPage(async () => (await import("./pages/paper.tsx")).PaperPage),
  },
  {
    path: "/universes",
    title: names.universes,
    component: lazyPage(async () => (await import("./pages/universes.tsx")).UniversesPage),
  },
  {
    path: "/universes/{id}",
    title: names.universes,
    component: lazyPage(async () => (await import("./pages/universe.tsx")).UniversePage),
  },
  {
    path: "/workflows",
    title: names.workflows,
    component: lazyPage(async () => (await import("./pages/workflows.tsx")).WorkflowsPage),
  },
  {
    path: "/workflows/{name}",
    title: names.workflows,
    component: lazyPage(async () => (await import("./pages/workflow.tsx")).WorkflowPage),
  },
  {
    path: "/workflows/{name}/edit",
    title: strings.workflows.edit,
    component: lazyPage(async () => (await import("./pages/workflow_editor.tsx")).WorkflowEditorPage),
  },
  {
    path: "/runs/{id}",
    title: strings.run.title,
    component: lazyPage(async () => (await import("./pages/run.tsx")).RunPage),
  },
  {
    path: "/runs/{id}/compare/{other}",
    title: strings.run.comparison,
    component: lazyPage(async () => (await import("./pages/run_comparison.tsx")).RunComparisonPage),
  },
  {
    path: "/connections",
    title: names.connections,
    component: lazyPage(async () => (await import("./pages/connections.tsx")).ConnectionsPage),
  },
  { path: "/settings", title: names.settings, component: SettingsPage },
  ...(DEVELOPMENT
    ? [
        {
          path: "/styleguide",
          title: names.styleguide,
          component: lazyPage(async () => (await import("./styleguide/page.tsx")).StyleguidePage),
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
}

export const NAVIGATION: readonly NavigationEntry[] = [
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
export function findPage(path: string): { page: Page; params: Params } {
  for (const page of PAGES) {
    const params = matchPath(page.path, path);
    if (params) return { page, params };
  }
  return { page: { path, title: strings.errors.notFound, component: NotFoundPage }, params: {} };
}

/** Return whether a navigation entry leads to the part of the console that an address is in. */
export function isInPart(entry: NavigationEntry, path: string): boolean {
  const beginnings = [entry.href, ...(entry.alsoAt ? [entry.alsoAt] : [])];
  const isInside = beginnings.some((beginning) => path === beginning || path.startsWith(`${beginning}/`));
  return isInside || (path === "/" && entry.href === "/inbox");
}
