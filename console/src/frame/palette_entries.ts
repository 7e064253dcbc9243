import { useEffect, useRef } from "preact/hooks";
import type { PaletteEntry } from "./palette.tsx";

const sources = new Set<() => PaletteEntry[]>();

/** Offer entries in the palette while a component is mounted. They are made when the palette opens. */
export function usePaletteEntries(make: () => PaletteEntry[]): void {
  const current = useRef(make);
  current.current = make;
  useEffect(() => {
    const source = () => current.current();
    sources.add(source);
    return () => {
      sources.delete(source);
    };
  }, []);
}

/** Return the entries of everything that is mounted. */
export function listPageEntries(): PaletteEntry[] {
  return [...sources].flatMap((make) => make());
}
