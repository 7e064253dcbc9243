import { useEffect, useRef } from "preact/hooks";
import { Key } from "../common/controls.tsx";
import { Icon } from "../common/icon.tsx";
import { commonTexts } from "../common/strings.ts";
import { openFile } from "../data/api_file.tsx";
import { type Connection, connection } from "../data/live.ts";
import { address, path } from "../data/router.ts";
import { waitingCount } from "../inbox/waiting_list.ts";
import { isInPart, NAVIGATION, type NavigationEntry } from "../pages.tsx";
import { findJsonTwin } from "./json_twins.ts";
import { PALETTE_KEY } from "./palette_commands.ts";
import { frameTexts } from "./strings.ts";

export function TopBar({ onPalette }: { onPalette: () => void }) {
  return (
    <header class="top-bar">
      <a class="brand" href="/" aria-label={commonTexts.navigation.home}>
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

export function Navigation({ onKeys }: { onKeys: () => void }) {
  return (
    <nav class="navigation" aria-label={commonTexts.navigation.label}>
      <ul>
        {NAVIGATION.map((entry) => (
          <li key={entry.href} class={entry.isSecondary ? "secondary" : entry.isWideOnly ? "wide-only" : ""}>
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
