import { type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type ApiError, toApiError } from "./api_error.ts";
import { listenForChanges, retryWhenLive } from "./live.ts";
import type { Change } from "./server_events.ts";

const PAUSE_MS = 150;

/** Data of the server that stays current: the last value is shown while it is read again, and after an error. */
export interface Resource<T> {
  readonly value: ReadonlySignal<T | undefined>;
  readonly error: ReadonlySignal<ApiError | undefined>;
  readonly isLoading: ReadonlySignal<boolean>;
  /** Read the data again, soon: requests within a moment become one. */
  reload(): void;
  /** Replace the value until the next reload, for instance by the reply to a change. */
  set(value: T): void;
  /** Start to follow the changes; return a function that ends this. */
  start(): () => void;
}

/**
 * Make a resource. `load` reads the data, or returns undefined if there is nothing to read now. `isAffected` returns
 * true for the changes of the stream that make the data out of date; a `reset` of the stream always does. `earlier` is
 * shown until the first answer.
 */
export function makeResource<T>(
  load: (abort: AbortSignal) => Promise<T | undefined>,
  isAffected: (change: Change) => boolean = () => false,
  earlier?: T,
): Resource<T> {
  const value = signal<T | undefined>(earlier);
  const error = signal<ApiError | undefined>(undefined);
  const isLoading = signal(false);
  let abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStale = false;
  let isEarlier = earlier !== undefined;

  async function run(): Promise<void> {
    const { signal: aborted } = abort;
    isStale = false;
    isLoading.value = true;
    try {
      const loaded = await load(aborted);
      if (aborted.aborted) return;
      if (loaded !== undefined) {
        value.value = loaded;
        isEarlier = false;
        error.value = undefined;
      }
    } catch (thrown) {
      if (aborted.aborted) return;
      error.value = toApiError(thrown);
      if (isEarlier) value.value = undefined;
    }
    isLoading.value = false;
    if (isStale) reload();
  }

  function reload(): void {
    if (isLoading.value) {
      isStale = true;
      return;
    }
    timer ??= setTimeout(() => {
      timer = undefined;
      void run();
    }, PAUSE_MS);
  }

  function start(): () => void {
    abort = new AbortController();
    isLoading.value = false;
    const stop = listenForChanges((change) => {
      if (change.kind === "reset" || isAffected(change)) reload();
    });
    const stopRetry = retryWhenLive(error, reload);
    void run();
    return () => {
      stop();
      stopRetry();
      abort.abort();
      clearTimeout(timer);
      timer = undefined;
    };
  }

  return {
    value,
    error,
    isLoading,
    reload,
    start,
    set(next: T) {
      value.value = next;
    },
  };
}

/** Read a resource again when the reader returns to this window: for data that other programs change unannounced. */
export function useReloadOnReturn(resource: Resource<unknown>): void {
  useEffect(() => {
    const reload = () => {
      if (document.visibilityState === "visible") resource.reload();
    };
    addEventListener("focus", reload);
    document.addEventListener("visibilitychange", reload);
    return () => {
      removeEventListener("focus", reload);
      document.removeEventListener("visibilitychange", reload);
    };
  }, [resource]);
}

/**
 * Use a resource while a component is mounted. `key` names what it reads: another key makes another resource. The last
 * value of a key with the same `subject` is shown until the value of the next key arrives.
 */
export function useResource<T>(
  key: string,
  load: (abort: AbortSignal) => Promise<T | undefined>,
  isAffected?: (change: Change) => boolean,
  subject = key,
): Resource<T> {
  const last = useRef<{ subject: string; resource: Resource<T> }>(undefined);
  // The key stands for everything that the functions use
  const resource = useMemo(() => {
    const earlier = last.current?.subject === subject ? last.current.resource.value.peek() : undefined;
    return makeResource(load, isAffected, earlier);
  }, [key]);
  last.current = { subject, resource };
  useEffect(() => resource.start(), [resource]);
  return resource;
}
