import { useComputed } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Key } from "./common/controls.tsx";
import { Icon } from "./common/icon.tsx";
import { ErrorState, LoadingState } from "./common/states.tsx";
import { commonTexts } from "./common/strings.ts";
import { Toasts } from "./common/toasts.tsx";
import { openFile } from "./data/api_file.tsx";
import { keyScopes, useKeys } from "./data/keys.ts";
import { type Connection, connection } from "./data/live.ts";
import { theme } from "./data/preferences.ts";
import { address, navigate, path } from "./data/router.ts";
import { session } from "./data/session.ts";
import { ErrorBoundary } from "./frame/error_boundary.tsx";
import { findJsonTwin } from "./frame/json_twins.ts";
import { KeyHelp } from "./frame/key_help.tsx";
import { type FindEntries, Palette, type PaletteEntry } from "./frame/palette.tsx";
import { listPageEntries } from "./frame/palette_entries.ts";
import { SignInPage } from "./frame/sign_in_page.tsx";
import { frameTexts } from "./frame/strings.ts";
import { waiting, waitingCount } from "./inbox/waiting_list.ts";
import { findPage, isInPart, NAVIGATION, type NavigationEntry } from "./pages.tsx";
import { settingsTexts } from "./settings/strings.ts";
import { universeTexts } from "./universes/strings.ts";

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
  useKeys(commonTexts.keys.everywhere, [
    { keys: PALETTE_KEY, label: commonTexts.keys.palette, run: () => setOverlay("palette") },
    { keys: "?", label: commonTexts.keys.help, run: () => setOverlay("keys") },
    ...NAVIGATION.map((entry) => ({
      keys: `g ${entry.key}`,
      label: commonTexts.keys.goTo(entry.label),
      run: () => navigate(entry.href),
    })),
  ]);
  return (
    <div class="shell">
      <a class="skip-link" href="#main">
        {commonTexts.navigation.skip}
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

const findAnything: FindEntries = async (...given) =>
  (await import("./frame/palette_search.ts")).findAnything(...given);

/** Return what the palette offers before anything is typed: pages, what the keys do now, and a few commands. */
function listPaletteEntries(): PaletteEntry[] {
  const texts = frameTexts.palette;
  const pages = NAVIGATION.map((entry) => ({
    group: texts.go,
    label: commonTexts.keys.goTo(entry.label),
    keys: `g ${entry.key}`,
    run: () => navigate(entry.href),
  }));
  const commands = keyScopes.peek().flatMap((scope) =>
    scope.commands
      .filter((one) => !one.isHidden && one.keys !== PALETTE_KEY && !one.keys.startsWith("g "))
      .map((one) => ({
        group: scope.title === commonTexts.keys.everywhere ? texts.everywhere : texts.here,
        key: `${scope.title} ${one.keys}`,
        label: one.label,
        keys: one.keys,
        run: () => one.run(),
      })),
  );
  const themes = (["auto", "light", "dark"] as const).map((name) => ({
    group: texts.everywhere,
    label: texts.theme(settingsTexts.settings.themes[name]),
    run: () => {
      theme.value = name;
    },
  }));
  const views = (["runs", "schedules"] as const).map((view) => ({
    group: texts.go,
    label: commonTexts.keys.goTo(commonTexts.pages[view]),
    run: () => navigate(`/workflows?view=${view}`),
  }));
  const starts = [
    [texts.startSearch, "/searches?new=1"],
    [texts.newDraft, "/workflows?new=1"],
    [universeTexts.universes.create, "/universes?new=1"],
  ].map(([label = "", href = ""]) => ({ group: texts.everywhere, label, run: () => navigate(href) }));
  const twin = findJsonTwin(address.peek());
  const json = twin
    ? [{ group: texts.here, label: commonTexts.navigation.json, run: () => open(twin, "_blank", "noopener") }]
    : [];
  const ofPage = commands.filter((one) => one.group === texts.here);
  const general = commands.filter((one) => one.group !== texts.here);
  return [...listPageEntries(), ...ofPage, ...json, ...pages, ...views, ...starts, ...general, ...themes];
}

function TopBar({ onPalette }: { onPalette: () => void }) {
  return (
    <header class="top-bar">
      <a class="brand" href="/inbox" aria-label={commonTexts.navigation.home}>
        <Icon name="universe" />
        <span>{commonTexts.product}</span>
      </a>
      <button class="palette-button" type="button" onClick={onPalette} aria-keyshortcuts="Control+K">
        <Icon name="search" />
        <span class="wide-only">{frameTexts.palette.label}</span>
        <span class="visually-hidden narrow-only">{frameTexts.palette.label}</span>
        <span class="wide-only" aria-hidden="true">
          <Key>{commonTexts.keys.names[PALETTE_KEY]}</Key>
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
      <span class="connection-word">{frameTexts.connection[state]}</span>
    </span>
  );
}

function Navigation({ onKeys }: { onKeys: () => void }) {
  return (
    <nav class="navigation" aria-label={commonTexts.navigation.label}>
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
        <span>{commonTexts.keys.open}</span>
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
      {commonTexts.navigation.json}
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
        <span>{commonTexts.navigation.more}</span>
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
      <span class="visually-hidden">{commonTexts.navigation.waiting(count)}</span>
    </span>
  );
}

function PageView() {
  const found = useComputed(() => findPage(path.value)).value;
  const main = useRef<HTMLElement>(null);
  const last = useRef(found.page.component);
  useEffect(() => {
    document.title = `${found.page.title} · ${commonTexts.product}`;
    if (last.current !== found.page.component) main.current?.focus();
    last.current = found.page.component;
  }, [found.page]);
  const Page = found.page.component;
  return (
    <main id="main" class="main" ref={main} tabIndex={-1}>
      {connection.value === "reconnecting" && (
        <p class="note maybe" role="status">
          {frameTexts.connection.lost}
        </p>
      )}
      <ErrorBoundary key={found.page.title} path={path.value}>
        <Page params={found.params} />
      </ErrorBoundary>
    </main>
  );
}
