import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
const THEMES: readonly string[] = ["auto", "light", "dark"];

function read(name: string): string | null {
  try {
    return localStorage.getItem(`uraniborg.${name}`);
  } catch {
    return null; // the browser stores nothing: preferences last as long as the page
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(`uraniborg.${name}`, value);
  } catch {
    // See above.
  }
}

function readTheme(): Theme {
  const stored = read("theme") ?? "auto";
  return THEMES.includes(stored) ? (stored as Theme) : "auto";
}

export const theme = signal<Theme>(readTheme());
/** Whether single letters are commands (WCAG 2.1.4: they can be switched off). */
export const hasLetterKeys = signal(read("letter-keys") !== "off");

/** Apply and store the preferences, and follow changes in other tabs. */
export function startPreferences(): void {
  effect(() => {
    if (theme.value === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.dataset.theme = theme.value;
    write("theme", theme.value);
  });
  effect(() => write("letter-keys", hasLetterKeys.value ? "on" : "off"));
  addEventListener("storage", (event) => {
    if (event.key === "uraniborg.theme") theme.value = readTheme();
    if (event.key === "uraniborg.letter-keys") hasLetterKeys.value = event.newValue !== "off";
  });
}
