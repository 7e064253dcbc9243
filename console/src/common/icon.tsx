/** Small line drawings on a grid of 16, in the colour of the text. */
const PATHS = {
  home: "M2 7.500 8 2.500l6 5M3.500 6.500v7h9v-7M6.500 13.500v-4h3v4",
  inbox: "M2 9.5 4 3.5h8l2 6v3H2zM2 9.5h3.5l1 1.5h3l1-1.5H14",
  search: "M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9zM10.4 10.4 14 14",
  book: "M8 4c-1.5-1-3.5-1.2-6-1v9.500c2.500-.2 4.500 0 6 1 1.500-1 3.500-1.200 6-1V3c-2.500-.2-4.500 0-6 1zM8 4v9.500",
  flow: "M2 2.500h4.500v3.500H2zM9.500 10H14v3.500H9.500zM4.250 6v5.750H9.500",
  universe:
    "M8 10.200a2.200 2.200 0 1 0 0-4.400 2.200 2.200 0 0 0 0 4.400zM13.600 4.500c1 1.600-.700 4.400-3.800 6.300s-6.400 2.300-7.400.700.700-4.400 3.800-6.300 6.400-2.300 7.400-.7z",
  story: "M3.500 14V2.500M3.500 3h8.500l-2 3 2 3H3.500",
  plug: "M5.500 2v3.500M10.500 2v3.500M3.500 5.500h9v2a4.500 4.500 0 0 1-9 0zM8 12v2.500",
  settings:
    "M2 4.500h7M13 4.500h1M2 11.500h1M7 11.500h7M11 6.300a1.800 1.800 0 1 0 0-3.600 1.800 1.800 0 0 0 0 3.600zM5 13.300a1.800 1.800 0 1 0 0-3.600 1.800 1.800 0 0 0 0 3.600z",
  back: "M9.500 3.500 5 8l4.500 4.500",
  forward: "M6.500 3.500 11 8l-4.500 4.500",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.500 6.500 12 13 4.500",
  copy: "M5.500 5.500h8v8h-8zM3 10.500h-.500v-8h8V3",
  warning: "M8 2.500 14.500 13.500h-13zM8 6.500v3.500M8 11.500v.500",
  external: "M9 3h4v4M13 3 7.500 8.500M11.500 9.500v3.500h-8.500V4.500h3.500",
  plus: "M8 3v10M3 8h10",
  more: "M3.500 8h.01M8 8h.01M12.500 8h.01",
} as const;

export type IconName = keyof typeof PATHS;
export const ICON_NAMES = Object.keys(PATHS) as readonly IconName[];

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
