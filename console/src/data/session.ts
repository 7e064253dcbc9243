import { signal } from "@preact/signals";
import { attempt } from "../common/toasts.tsx";
import { api, listenForSignOut } from "./api.ts";
import { type ApiError, toApiError } from "./api_error.ts";
import { followChanges } from "./live.ts";
import { listenForDeletedKey, storeKey } from "./sign_in_key.ts";

/** Whether this browser is signed in. `name` is the one recorded with decisions. */
export type Session =
  | { state: "checking" }
  | { state: "offline"; error: ApiError }
  | { state: "signedOut"; token: string; name: string; wasSignedIn: boolean; error?: ApiError }
  | { state: "signedIn"; name: string };

export const session = signal<Session>({ state: "checking" });
let stream: AbortController | undefined;

/** Return the name of the person of this browser; an empty text if it is not signed in. */
export function readOwnName(): string {
  return session.value.state === "signedIn" ? session.value.name : "";
}

/** Read token and name from the fragment of the address, which `uraniborg serve` prints; fragments reach no log. */
function readFragment(fragment: string): { token: string; name: string } {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  return { token: given.get("token") ?? "", name: given.get("name") ?? "" };
}

/** Find out whether this browser is signed in, and follow the changes if it is. Try again while the server is away. */
export async function startSession(given = readFragment(location.hash)): Promise<void> {
  if (location.hash) history.replaceState(null, "", `${location.pathname}${location.search}`);
  listenForSignOut(endSessionHere);
  try {
    const { name, is_renewal_due } = await api.get("/api/sign-in");
    if (name && is_renewal_due) storeKey((await api.post("/api/sign-in/renew")).key);
    if (name) enter(name);
    else session.value = { state: "signedOut", ...given, wasSignedIn: false };
  } catch (thrown) {
    session.value = { state: "offline", error: toApiError(thrown) };
    setTimeout(() => void startSession(given), 1_000);
  }
}

/** Exchange the token for a key of this browser. */
export async function signIn(token: string, name: string): Promise<void> {
  try {
    const reply = await api.post("/api/sign-in", { body: { token, name } });
    storeKey(reply.key);
    enter(reply.name);
  } catch (thrown) {
    session.value = { state: "signedOut", token: "", name, wasSignedIn: false, error: toApiError(thrown) };
  }
}

/** Make the key of this browser, or those of all browsers, invalid; or show why that failed. */
export async function signOut({ everywhere = false } = {}): Promise<void> {
  if (!(await attempt(() => api.post(everywhere ? "/api/sign-out-everywhere" : "/api/sign-out")))) return;
  storeKey("");
  endSessionHere();
}

function endSessionHere(): void {
  if (session.value.state === "signedIn") endSession({ wasSignedIn: true, name: session.value.name });
}

function endSession(last: { wasSignedIn: boolean; name: string }): void {
  stream?.abort();
  stream = undefined;
  session.value = { state: "signedOut", token: "", ...last };
}

function enter(name: string): void {
  stream?.abort();
  stream = new AbortController();
  session.value = { state: "signedIn", name };
  listenForDeletedKey(endSessionHere, stream.signal);
  void followChanges(() => endSession({ wasSignedIn: true, name }), stream.signal);
}
