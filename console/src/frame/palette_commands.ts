import { commonTexts } from "../common/strings.ts";
import { keyScopes } from "../data/keys.ts";
import { theme } from "../data/preferences.ts";
import { address, navigate } from "../data/router.ts";
import { NAVIGATION } from "../pages.tsx";
import { settingsTexts } from "../settings/strings.ts";
import { universeTexts } from "../universes/strings.ts";
import { findJsonTwin } from "./json_twins.ts";
import type { FindEntries, PaletteEntry } from "./palette.tsx";
import { listPageEntries } from "./palette_entries.ts";
import { frameTexts } from "./strings.ts";

export const PALETTE_KEY = "Control+k";

export const findAnything: FindEntries = async (...given) =>
  (await import("./palette_search.ts")).findAnything(...given);

/** Return what the palette offers before anything is typed: pages, what the keys do now, and a few commands. */
export function listPaletteEntries(): PaletteEntry[] {
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
