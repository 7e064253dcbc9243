import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { commonTexts } from "../common/strings.ts";
import { hasLetterKeys } from "./preferences.ts";

/** A command of the keyboard. `keys` is a key as the browser names it (`j`, `Enter`, `?`), or two: `g i`. */
export interface KeyCommand {
  keys: string;
  label: string;
  run(): void;
  /** Not listed in the help, such as a second key for the same command. */
  isHidden?: boolean;
  /** The line of the help, for a command that stands for several: `1 to 9`. */
  help?: { label: string; keys: string } | undefined;
}

export interface KeyScope {
  title: string;
  commands: readonly KeyCommand[];
}

/** What the keys do now: the scopes of everything that is mounted, the innermost last. */
export const keyScopes = signal<readonly KeyScope[]>([]);
let pendingKey = "";
let pendingTimer: ReturnType<typeof setTimeout> | undefined;
const PENDING_MS = 1_500;

const NAMES: Record<string, string> = commonTexts.keys.names;

/** Return the names of the keys of a command, one after the other. */
export function nameKeys(keys: string): string[] {
  return (keys === " " ? [keys] : keys.split(" ")).map((key) => NAMES[key] ?? key);
}

/** Offer commands of the keyboard while a component is mounted. Later scopes win. */
export function useKeys(title: string, commands: readonly KeyCommand[]): void {
  const current = useRef(commands);
  current.current = commands;
  const names = commands.map((one) => `${one.keys}\t${one.label}`).join("\n");
  // The names stand for the commands; `run` is read late. What is on the screen has its keys at once.
  useLayoutEffect(() => {
    const scope: KeyScope = {
      title,
      commands: commands.map((one, index) => ({ ...one, run: () => current.current[index]?.run() })),
    };
    keyScopes.value = [...keyScopes.peek(), scope];
    return () => {
      keyScopes.value = keyScopes.peek().filter((one) => one !== scope);
    };
  }, [title, names]);
}

/** Return the commands that move the focus through the links of a page that match `selector`. Enter opens a link. */
export function makeListKeys(selector: string): KeyCommand[] {
  const move = (step: number) => {
    const links = [...document.querySelectorAll<HTMLElement>(selector)];
    const index = links.indexOf(document.activeElement as HTMLElement);
    links[Math.min(links.length - 1, Math.max(0, index + step))]?.focus();
  };
  return [
    { keys: "j", label: commonTexts.keys.next, run: () => move(1) },
    { keys: "ArrowDown", label: commonTexts.keys.next, isHidden: true, run: () => move(1) },
    { keys: "k", label: commonTexts.keys.previous, run: () => move(-1) },
    { keys: "ArrowUp", label: commonTexts.keys.previous, isHidden: true, run: () => move(-1) },
  ];
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button", "submit"].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

/** Enter and Space belong to the control that has the focus; arrows choose in a radio group and scroll a side panel. */
function belongsToControl(event: KeyboardEvent): boolean {
  if (!(event.target instanceof Element)) return false;
  if (event.key.startsWith("Arrow")) return event.target.closest("input[type=radio], .universe-panel") !== null;
  if (event.key !== "Enter" && event.key !== " ") return false;
  return event.target.closest("a, button, input, select, summary, textarea") !== null;
}

/** Escape in a field leaves the field and keeps its text. The command of the page needs another Escape. */
function leaveField(event: KeyboardEvent): void {
  event.preventDefault(); // a field that searches would empty itself
  (event.target as HTMLElement).blur();
}

function findCommand(keys: string): KeyCommand | undefined {
  for (const scope of keyScopes.value.toReversed()) {
    const found = scope.commands.find((one) => one.keys === keys);
    if (found) return found;
  }
  return undefined;
}

function isPrefix(key: string): boolean {
  return keyScopes.value.some((scope) => scope.commands.some((one) => one.keys.startsWith(`${key} `)));
}

/** Run the command of a key press, if it has one. */
export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const isControl = event.ctrlKey || event.metaKey;
  const name = isControl ? `Control+${event.key.toLowerCase()}` : event.key;
  if (event.altKey) return;
  if (!isControl) {
    const isLetter = event.key.length === 1;
    if (isLetter && (isTyping(event.target) || !hasLetterKeys.value)) return;
    if (document.querySelector("dialog[open]") || belongsToControl(event)) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") leaveField(event);
      return;
    }
  }
  // A key after a prefix never runs its own command: `g a` must not approve.
  const keys = pendingKey && !isControl ? `${pendingKey} ${name}` : name;
  pendingKey = "";
  clearTimeout(pendingTimer);
  const command = findCommand(keys);
  if (command) {
    event.preventDefault();
    command.run();
  } else if (isPrefix(name)) {
    pendingKey = name;
    pendingTimer = setTimeout(() => {
      pendingKey = "";
    }, PENDING_MS);
  }
}

export function startKeys(): void {
  document.addEventListener("keydown", handleKey);
}
