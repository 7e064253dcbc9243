import { useEffect, useState } from "preact/hooks";

const PAUSE_MS = 120;

/** Use a value once it has not changed for a moment: typing a word then sends one request, not one for each letter. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
