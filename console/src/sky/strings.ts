import { makeTexts, plural } from "../common/wording.ts";

export const skyTexts = makeTexts({
  loading: "The universe is loading.",
  unreadable: "The orbits of this universe cannot be read.",
  picture: (name: string, bodies: number) =>
    `${name}: a picture of ${plural(bodies, "body", "bodies")}. The keys n and p select a body, the arrows turn the view.`,
  empty: "This universe has no bodies yet.",
  emptyHint: "Bodies that you or an agent add appear here at once.",
  panel: "Universe",
  nothingSelected: "Select a body in the picture.",
  noDrawing: "This browser cannot draw in three dimensions.",
  noDrawingHint:
    "WebGL 2 is off or missing: switch on hardware acceleration, or use another browser. These are the positions at the chosen time; z points to the north of the reference plane.",
  positions: "Positions",
  body: "Body",
  following: "Following",
  playedRun: (degrees: number | undefined) =>
    degrees === undefined
      ? "N-body run; its error is unknown. Lines: Kepler orbits"
      : `N-body run, error at most ${degrees < 1e-6 ? "0.000001" : Number(degrees.toPrecision(2))}°. Lines: Kepler orbits`,
  outsideRun: "Outside the N-body run: Kepler orbits",
  readableSizes: "Sizes: readable, not to scale",
  realSizes: "Sizes: to scale; a dot is smaller than a pixel",
  logRadius: "Distances: logarithmic",
  oneOfSystems: (count: number) =>
    `1 of ${count} systems, that of the selected body: their positions relative to each other are unknown`,
  zone: "Green: habitable zone (Kopparapu et al. 2014)",
  zoneOf: (kelvin: number) =>
    `Green: habitable zone (Kopparapu et al. 2014), computed for ${kelvin} K, the lower limit of the formula`,
  all: "Whole view",
  top: "From above",
  options: "Options",
  optionLog: "Logarithmic distances",
  optionReal: "Real sizes",
  optionOrbits: "Orbits",
  optionTrails: "Trails",
  optionLabels: "Names",
  optionZone: "Habitable zone",
  save: "Save the picture",
  saved: "The picture is in your downloads.",
  saveModel: "Save a 3D model (glTF)",
  savedModel: "The model is in your downloads.",
  notSaved: "The picture cannot be saved. Try again, or use another browser.",
  notSavedModel: "The model cannot be saved. Try again, or use another browser.",
  scale: (length: string) => `${length} at the middle`,
  units: (length: string) => `${length} units`,
  timeBar: "Time",
  time: "Time",
  play: "Play",
  pause: "Pause",
  speed: "Speed",
  date: "Date (year-month-day)",
  day: "Time",
  days: "days",
  dateProblem: "Type a date such as 2026-11-17.",
  dayProblem: "Type a number such as 12.5.",
  dayNumber: (text: string) => `time ${text}`,
  toUniverseTime: "Back to the universe's time",
  back: "Back",
  perSecond: (speed: number, isDays: boolean) => {
    if (!isDays) return `${speed} / s`;
    if (speed >= 365) return `${plural(Math.round(speed / 365.25), "year")} / s`;
    if (speed >= 1) return `${plural(speed, "day")} / s`;
    const hours = speed * 24;
    return hours >= 1 ? `${plural(Math.round(hours), "hour")} / s` : `${Math.round(hours * 60)} min / s`;
  },
  keyTitle: "Universe",
  keys: {
    play: "Play or pause",
    left: "Turn left",
    right: "Turn right",
    up: "Raise the view",
    down: "Lower the view",
    closer: "Closer",
    farther: "Farther",
    next: "Select the next body",
    previous: "Select the previous body",
    follow: "Follow the selected body, or stop",
    clear: "Stop following, then select nothing",
    top: "View from above",
    all: "Whole view",
    log: "Logarithmic or true distances",
  },
});
