import { effect, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { type ApiError, toApiError } from "../data/api_error.ts";
import { connection } from "../data/live.ts";
import { IconButton } from "./controls.tsx";
import { commonTexts } from "./strings.ts";

interface Toast {
  id: number;
  text: string;
  tone: "plain" | "no";
  /** The server does not answer: the bar above the page says so as soon as that is known. */
  isOffline: boolean;
}

const SHOWN_MS = 5_000;
const MOST = 4;
const toasts = signal<readonly Toast[]>([]);
let count = 0;

effect(() => {
  if (connection.value !== "connecting") toasts.value = toasts.peek().filter((one) => !one.isOffline);
});

/** Show a short message. An error stays until it is dismissed. */
export function showToast(text: string, tone: Toast["tone"] = "plain", isOffline = false): void {
  if (isOffline && connection.value === "reconnecting") return;
  count += 1;
  const toast = { id: count, text, tone, isOffline };
  toasts.value = [...toasts.value.filter((one) => one.text !== text), toast].slice(-MOST);
  if (tone === "plain" || isOffline) setTimeout(() => dismissToast(toast.id), SHOWN_MS);
}

export function showError(error: ApiError): void {
  showToast(error.hint ? `${error.message} ${error.hint}` : error.message, "no", error.code === "offline");
}

/** Do something and return whether it succeeded. Why it failed is shown. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (thrown) {
    showError(toApiError(thrown));
    return false;
  }
}

function dismissToast(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  const element = useRef<HTMLElement>(null);
  // What was shown last is on top: a message must be above a dialog that is open
  useLayoutEffect(() => {
    element.current?.hidePopover?.();
    if (toasts.value.length) element.current?.showPopover?.();
  }, [toasts.value]);
  return (
    <section ref={element} popover="manual" class="toasts" aria-label={commonTexts.toasts.label} aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={`toast ${toast.tone}`} role={toast.tone === "no" ? "alert" : "status"}>
          <p dir="auto">{toast.text}</p>
          <IconButton icon="close" label={commonTexts.toasts.dismiss} onClick={() => dismissToast(toast.id)} />
        </div>
      ))}
    </section>
  );
}
