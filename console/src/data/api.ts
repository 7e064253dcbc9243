import { makeOfflineError, readErrorResponse } from "./api_error.ts";
import type { Operations } from "./api_types.ts";
import { makeKeyHeader } from "./sign_in_key.ts";
import { readServerClock } from "./times.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Name = keyof Operations;
export type PathsOf<M extends Method> = Name extends infer K ? (K extends `${M} ${infer P}` ? P : never) : never;
type Operation<M extends Method, P extends string> = Operations[Extract<Name, `${M} ${P}`>];
type Reply<M extends Method, P extends PathsOf<M>> = Operation<M, P>["reply"];

interface Described {
  path: object;
  query: object;
  body: unknown;
}
type Given<O extends Described> = (keyof O["path"] extends never ? { path?: never } : { path: O["path"] }) & {
  query?: O["query"];
  signal?: AbortSignal | undefined;
} & (undefined extends O["body"] ? { body?: O["body"] } : { body: O["body"] });
type Arguments<O extends Described> = Record<never, never> extends Given<O> ? [given?: Given<O>] : [given: Given<O>];

interface AnyGiven {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  signal?: AbortSignal | undefined;
}

let onSignedOut: () => void = () => undefined;

/** Call `listener` whenever the server no longer knows this browser. */
export function listenForSignOut(listener: () => void): void {
  onSignedOut = listener;
}

/** Return the address of an operation with its parameters. */
export function formatAddress(template: string, given: AnyGiven = {}): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given.path?.[name])));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given.query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) query.append(name, String(one));
    }
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

async function request(method: Method, template: string, given: AnyGiven = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: "application/json", "X-Uraniborg": "1", ...makeKeyHeader() };
  const init: RequestInit = { method, headers, signal: given.signal ?? null, credentials: "omit" };
  if (given.body !== undefined) {
    headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(given.body);
  }
  let response: Response;
  try {
    response = await fetch(formatAddress(template, given), init);
  } catch (error) {
    if (given.signal?.aborted) throw error;
    throw makeOfflineError();
  }
  readServerClock(response);
  if (response.ok) return response;
  if (response.status === 401 && template !== "/api/sign-in") onSignedOut();
  throw await readErrorResponse(response);
}

/** Send a request and read the body of its reply. */
async function requestBody<T>(
  method: Method,
  template: string,
  given: AnyGiven | undefined,
  readBody: (response: Response) => Promise<T>,
): Promise<T> {
  const response = await request(method, template, given);
  try {
    return await readBody(response);
  } catch (error) {
    if (given?.signal?.aborted) throw error;
    throw makeOfflineError(); // the connection ended within the body
  }
}

function requestJson(method: Method, template: string, given?: AnyGiven): Promise<unknown> {
  return requestBody(method, template, given, async (response) =>
    response.status === 204 ? undefined : response.json(),
  );
}

/** Return the file at an address of the API. */
export function fetchFile(address: string, signal?: AbortSignal): Promise<Blob> {
  return requestBody("GET", address, { signal }, (response) => response.blob());
}

/** The operations of the API. Paths, parameters, bodies and replies are checked against its OpenAPI document. */
export const api = {
  get<P extends PathsOf<"GET">>(path: P, ...[given]: Arguments<Operation<"GET", P>>): Promise<Reply<"GET", P>> {
    return requestJson("GET", path, given as AnyGiven) as Promise<Reply<"GET", P>>;
  },
  post<P extends PathsOf<"POST">>(path: P, ...[given]: Arguments<Operation<"POST", P>>): Promise<Reply<"POST", P>> {
    return requestJson("POST", path, given as AnyGiven) as Promise<Reply<"POST", P>>;
  },
  put<P extends PathsOf<"PUT">>(path: P, ...[given]: Arguments<Operation<"PUT", P>>): Promise<Reply<"PUT", P>> {
    return requestJson("PUT", path, given as AnyGiven) as Promise<Reply<"PUT", P>>;
  },
  patch<P extends PathsOf<"PATCH">>(path: P, ...[given]: Arguments<Operation<"PATCH", P>>): Promise<Reply<"PATCH", P>> {
    return requestJson("PATCH", path, given as AnyGiven) as Promise<Reply<"PATCH", P>>;
  },
  delete<P extends PathsOf<"DELETE">>(
    path: P,
    ...[given]: Arguments<Operation<"DELETE", P>>
  ): Promise<Reply<"DELETE", P>> {
    return requestJson("DELETE", path, given as AnyGiven) as Promise<Reply<"DELETE", P>>;
  },
  /** Return a reply that is not JSON, such as an export, as text. */
  getText<P extends PathsOf<"GET">>(path: P, ...[given]: Arguments<Operation<"GET", P>>): Promise<string> {
    return requestBody("GET", path, given as AnyGiven, (response) => response.text());
  },
  /** Return a reply that is binary. */
  getBytes<P extends PathsOf<"GET">>(path: P, ...[given]: Arguments<Operation<"GET", P>>): Promise<ArrayBuffer> {
    return requestBody("GET", path, given as AnyGiven, (response) => response.arrayBuffer());
  },
};
