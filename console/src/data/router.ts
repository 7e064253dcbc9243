import { computed, signal } from "@preact/signals";

/** The address of the page that is shown, without origin and fragment. */
export const address = signal(`${location.pathname}${location.search}`);
export const path = computed(() => address.value.split("?", 1)[0] ?? "/");
export const query = computed(() => new URLSearchParams(address.value.split("?")[1] ?? ""));

export type Params = Record<string, string>;

/** Go to another page of the console. `replace` keeps the place in the browser's history. */
export function navigate(to: string, { replace = false } = {}): void {
  if (to === address.value) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  address.value = to;
}

/** Return the parameters of a path such as `/searches/{id}/review`, or undefined if it does not match. */
export function matchPath(pattern: string, given: string): Params | undefined {
  const expected = pattern.split("/");
  const parts = given.replace(/(?<=.)\/$/, "").split("/");
  if (expected.length !== parts.length) return undefined;
  const params: Params = {};
  for (const [index, name] of expected.entries()) {
    const part = parts[index] ?? "";
    if (name.startsWith("{")) {
      try {
        params[name.slice(1, -1)] = decodeURIComponent(part);
      } catch {
        return undefined;
      }
      if (!part) return undefined;
    } else if (name !== part) return undefined;
  }
  return params;
}

/** Return an address with parameters, which may contain any characters. */
export function formatPath(pattern: string, params: Params): string {
  return pattern.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

/** Follow the back button and clicks on links to pages of the console. */
export function startRouter(): void {
  addEventListener("popstate", () => {
    address.value = `${location.pathname}${location.search}`;
  });
  document.addEventListener("click", (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (link.pathname.startsWith("/api/")) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    navigate(`${link.pathname}${link.search}`);
  });
}
