const STORAGE = "uraniborg.sign-in";
/** The key of a browser that stores nothing: it lasts as long as the page. */
let unstored = "";

/** Return the key of this browser, which the storage of this origin holds; an empty text if there is none. */
function readKey(): string {
  try {
    return localStorage.getItem(STORAGE) ?? "";
  } catch {
    return unstored;
  }
}

/** Store the key for all tabs of this origin; an empty text deletes it. */
export function storeKey(key: string): void {
  unstored = key;
  try {
    if (key) localStorage.setItem(STORAGE, key);
    else localStorage.removeItem(STORAGE);
  } catch {
    // See above.
  }
}

/** Return the header that sends the key; none without a key. */
export function makeKeyHeader(): Record<string, string> {
  const key = readKey();
  return key ? { Authorization: `bearer ${key}` } : {};
}

/** Call `listener` when another tab deletes the key, until `stop` is aborted. */
export function listenForDeletedKey(listener: () => void, stop: AbortSignal): void {
  const check = (event: StorageEvent) => {
    if ((event.key === STORAGE || event.key === null) && !readKey()) listener();
  };
  addEventListener("storage", check, { signal: stop });
}
