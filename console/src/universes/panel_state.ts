import { type Signal, signal } from "@preact/signals";

export const TABS = ["body", "log", "commands", "jobs"] as const;
export type Tab = (typeof TABS)[number];

/** A form to open: its command, and the field to fill in first. */
export interface CommandDraft {
  type: string;
  field?: string;
}

/** What the panel beside a sky shows. The palette writes it, too. */
export interface PanelState {
  tab: Signal<Tab>;
  draft: Signal<CommandDraft>;
}

export function makePanelState(tab: Tab): PanelState {
  return { tab: signal(tab), draft: signal({ type: "updateStar" }) };
}
