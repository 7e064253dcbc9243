import { useComputed } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { openFile } from "./api_file.tsx";
import { Key } from "./components/controls.tsx";
import { ErrorBoundary } from "./components/error_boundary.tsx";
import { Icon } from "./components/icon.tsx";
import { KeyHelp } from "./components/key_help.tsx";
import { type FindEntries, Palette, type PaletteEntry } from "./components/palette.tsx";
import { ErrorState, LoadingState } from "./components/states.tsx";
import { Toasts } from "./components/toasts.tsx";
import { findJsonTwin } from "./json_twins.ts";
import { keyScopes, useKeys } from "./keys.ts";
import { type Connection, connection } from "./live.ts";
import { SignInPage } from "./pages/sign_in.tsx";
import { findPage, isInPart, NAVIGATION, type NavigationEntry } from "./pages.tsx";
import { listPageEntries } from "./palette_entries.ts";
import { theme } from "./preferences.ts";
import { address, navigate, path } from "./router.ts";
import { session } from "./session.ts";
import { waiting, waitingCount } from "./stores/inbox.ts";
import { strings } from "./strings.ts";

const PALETTE_KEY = "Control+k";

export function App() {
  const person = session.value;
  if (DEVELOPMENT && path.value === "/styleguide") return <PageView />;
  switch (person.state) {
    case "checking":
      return <LoadingState />;
    case "offline":
      return (
        <main class="sign-in">
          <ErrorState error={person.error} />
        </main>
      );
    case "signedOut":
      return <SignInPage session={person} key={person.error?.code} />;
    case "signedIn":
      return <Shell />;
  }
}

function Shell() {
  useEffect(() => waiting.first.start(), []);
  const [overlay, setOverlay] = useState<"palette" | "keys" | undefined>();
  const close = () => setOverlay(undefined);
  useKeys(strings.keys.everywhere, [
    { keys: PALETTE_KEY, label: strings.keys.palette, run: () => setOverlay("palette") },
    { keys: "?", label: strings.keys.help, run: () => setOverlay("keys") },
    ...NAVIGATION.map((entry) => ({
      keys: `g ${entry.key}`,
      label: strings.keys.goTo(entry.label),
      run: () => navigate(entry.href),
    })),
  ]);
  return (
    <div class="shell">
      <a class="skip-link" href="#main">
        {strings.navigation.skip}
      </a>
      <TopBar onPalette={() => setOverlay("palette")} />
      <Navigation onKeys={() => setOverlay("keys")} />
      <PageView />
      <Toasts />
      {overlay === "palette" && <Palette entries={listPaletteEntries()} find={findAnything} onClose={close} />}
      {overlay === "keys" && <KeyHelp onClose={close} />}
    </div>
  );
}

const findAnything: FindEntries = async (...given) => (await import("./palette_search.ts")).findAnything(...given);

/** Return what the palette offers before anything is typed: pages, what the keys do now, and a few commands. */
function listPaletteEntries(): PaletteEntry[] {
  const texts = strings.palette;
  const pages = NAVIGATION.map((entry) => ({
    group: texts.go,
    label: strings.keys.goTo(entry.label),
    keys: `g ${entry.key}`,
    run: () => navigate(entry.href),
  }));
  const commands = keyScopes.peek().flatMap((scope) =>
    scope.commands
      .filter((one) => !one.isHidden && one.keys !== PALETTE_KEY && !one.keys.startsWith("g "))
      .map((one) => ({
        group: scope.title === strings.keys.everywhere ? texts.everywhere : texts.here,
        key: `${scope.title} ${one.keys}`,
        label: one.label,
        keys: one.keys,
        run: () => one.run(),
      })),
  );
  const themes = (["auto", "light", "dark"] as const).map((name) => ({
    group: texts.everywhere,
    label: texts.theme(strings.settings.themes[name]),
    run: () => {
      theme.value = name;
    },
  }));
  const views = (["runs", "schedules"] as const).map((view) => ({
    group: texts.go,
    label: strings.keys.goTo(strings.workflows.viewNames[view]),
    run: () => navigate(`/workflows?view=${view}`),
  }));
  const starts = [
    [texts.startSearch, "/searches?new=1"],
    [texts.newDraft, "/workflows?new=1"],
    [strings.universes.create, "/universes?new=1"],
  ].map(([label = "", href = ""]) => ({ group: texts.everywhere, label, run: () => navigate(href) }));
  const twin = findJsonTwin(address.peek());
  const json = twin
    ? [{ group: texts.here, label: strings.navigation.json, run: () => open(twin, "_blank", "noopener") }]
    : [];
  const ofPage = commands.filter((one) => one.group === texts.here);
  const general = commands.filter((one) => one.group !== texts.here);
  return [...listPageEntries(), ...ofPage, ...json, ...pages, ...views, ...starts, ...general, ...themes];
}

function TopBar({ onPalette }: { onPalette: () => void }) {
  return (
    <header class="top-bar">
      <a class="brand" href="/inbox" aria-label={strings.navigation.home}>
        <Icon name="universe" />
        <span>{strings.product}</span>
      </a>
      <button class="palette-button" type="button" onClick={onPalette} aria-keyshortcuts="Control+K">
        <Icon name="search" />
        <span class="wide-only">{strings.palette.label}</span>
        <span class="visually-hidden narrow-only">{strings.palette.label}</span>
        <span class="wide-only" aria-hidden="true">
          <Key>{strings.keys.names[PALETTE_KEY]}</Key>
        </span>
      </button>
      <ConnectionState state={connection.value} />
    </header>
  );
}

export function ConnectionState({ state }: { state: Connection }) {
  return (
    <span class="connection" role="status">
      <span class={state === "live" ? "dot yes" : "dot hollow"} aria-hidden="true" />
      <span class="connection-word">{strings.connection[state]}</span>
    </span>
  );
}

function Navigation({ onKeys }: { onKeys: () => void }) {
  return (
    <nav class="navigation" aria-label={strings.navigation.label}>
      <ul>
        {NAVIGATION.map((entry) => (
          <li key={entry.href} class={entry.isSecondary ? "secondary" : ""}>
            <NavigationLink entry={entry} />
          </li>
        ))}
        <li class="narrow-only">
          <MoreMenu />
        </li>
      </ul>
      <button class="keys-button wide-only" type="button" onClick={onKeys}>
        <Key>?</Key>
        <span>{strings.keys.open}</span>
      </button>
      <div class="json-link wide-only">
        <JsonLink />
      </div>
    </nav>
  );
}

function NavigationLink({ entry }: { entry: NavigationEntry }) {
  return (
    <a href={entry.href} aria-current={isInPart(entry, path.value) ? "page" : undefined}>
      <Icon name={entry.icon} />
      <span>{entry.label}</span>
      {entry.href === "/inbox" && <WaitingCount />}
    </a>
  );
}

/** A link to the data of this page as the API returns them. */
function JsonLink() {
  const href = findJsonTwin(address.value);
  if (!href) return null;
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener"
      onClick={(event) => {
        event.preventDefault();
        void openFile(href);
      }}
    >
      {strings.navigation.json}
    </a>
  );
}

/** The pages that the bar of a phone has no room for. It is closed by a choice, Escape, or a touch beside it. */
function MoreMenu() {
  const menu = useRef<HTMLDetailsElement>(null);
  const entries = NAVIGATION.filter((entry) => entry.isSecondary);
  const isHere = entries.some((entry) => isInPart(entry, path.value));
  const close = () => {
    if (menu.current) menu.current.open = false;
  };
  useEffect(close, [path.value]);
  useEffect(() => {
    const closeOutside = (event: Event) => {
      if (event.target instanceof Node && !menu.current?.contains(event.target)) close();
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, []);
  return (
    <details
      ref={menu}
      class="more-menu"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !menu.current?.open) return;
        close();
        menu.current.querySelector("summary")?.focus();
      }}
    >
      <summary class={isHere ? "current" : ""}>
        <Icon name="more" />
        <span>{strings.navigation.more}</span>
      </summary>
      <ul>
        {entries.map((entry) => (
          <li key={entry.href}>
            <NavigationLink entry={entry} />
          </li>
        ))}
        <li>
          <JsonLink />
        </li>
      </ul>
    </details>
  );
}

function WaitingCount() {
  const count = waitingCount.value;
  if (!count) return null;
  return (
    <span class="count">
      <span aria-hidden="true">{count > 999 ? "999+" : count}</span>
      <span class="visually-hidden">{strings.navigation.waiting(count)}</span>
    </span>
  );
}

function PageView() {
  const found = useComputed(() => findPage(path.value)).value;
  const main = useRef<HTMLElement>(null);
  const last = useRef(found.page.component);
  useEffect(() => {
    document.title = `${found.page.title} · ${strings.product}`;
    if (last.current !== found.page.component) main.current?.focus();
    last.current = found.page.component;
  }, [found.page]);
  const Page = found.page.component;
  return (
    <main id="main" class="main" ref={main} tabIndex={-1}>
      {connection.value === "reconnecting" && (
        <p class="note maybe" role="status">
          {strings.connection.lost}
        </p>
      )}
      <ErrorBoundary key={found.page.title} path={path.value}>
        <Page params={found.params} />
      </ErrorBoundary>
    </main>
  );
}
