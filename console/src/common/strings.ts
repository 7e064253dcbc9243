import { makeTexts, plural } from "./wording.ts";

export const commonTexts = makeTexts({
  product: "Uraniborg",

  /** The names of all pages and of the views that have an address. */
  pages: {
    home: "Home",
    inbox: "Inbox",
    searches: "Searches",
    plan: "Search plan",
    progress: "Progress",
    review: "Review",
    library: "Library",
    paper: "Paper",
    workflows: "Workflows",
    editor: "Edit",
    runs: "Runs",
    schedules: "Schedules",
    run: "Run",
    comparison: "Two runs compared",
    universes: "Universes",
    story: "Story",
    connections: "Connections",
    settings: "Settings",
    styleguide: "Style guide",
  },

  navigation: {
    label: "Pages",
    skip: "Skip to the page",
    more: "More",
    json: "This page as JSON",
    waiting: (count: number) => `${count} waiting`,
    home: "Uraniborg: home",
  },

  actions: {
    save: "Save",
    cancel: "Cancel",
    close: "Close",
    back: "Back",
    copy: "Copy",
    copied: "Copied",
    notCopied: "The browser did not allow copying. Select the text and copy it.",
    showAll: (characters: number) => `Show all ${characters.toLocaleString("en-GB")} characters`,
    showLess: "Show less",
  },

  states: {
    loading: "Loading",
    details: "Details",
    inTerminal: "Or in a terminal",
  },

  errors: {
    offline: "The server does not answer.",
    offlineHint: "Start it again with the command that you started it with. This page continues by itself.",
    unexpected: "Something went wrong.",
    retryHint: "Try again.",
    retry: "Try again",
    code: "Code",
    notFound: "There is no such page.",
    notFoundHint: "The address may be mistyped, or the thing may have been deleted.",
    toHome: "Go to the home page",
    /** Instead of the message of the server, which names the thing as agents do. */
    messages: { session_not_found: "There is no such search." } as Record<string, string>,
    /** Instead of the hint of the server, which names tools of agents and commands. */
    hints: {
      session_not_found: "It may have been deleted. Open the list of searches.",
      shelf_not_found: "It may have been moved or deleted. Open the list of shelves.",
      paper_not_found: "The list of papers may have changed. Open the list and choose a paper.",
      workflow_not_found: "It may have been renamed or deleted. Open the list of workflows.",
      run_not_found: "The address may be mistyped, or the run may have been deleted. Open the list of runs.",
      universe_not_found: "It may have been deleted. Open the list of universes.",
      job_not_found: "It may have been deleted. The list of jobs has those that are left.",
      version_not_found: "Choose a version in the log.",
      schedule_not_found: "It may have been removed. Open the list of schedules.",
      checkpoint_not_found: "It may have been withdrawn. Open the inbox.",
      decision_not_found: "It may have been withdrawn. Open the inbox.",
    } as Record<string, string>,
    /** Instead of hints that name the description of the API. */
    argumentHint: "Correct the value. If you did not type it, open the page from the navigation.",
    broken: "This page cannot be shown.",
    brokenHint: "Try again, or reload the page. Nothing on the server has changed.",
  },

  toasts: {
    label: "Messages",
    dismiss: "Dismiss",
  },

  keys: {
    title: "Keys",
    open: "keys",
    everywhere: "Everywhere",
    palette: "Find or do anything",
    help: "Show the keys",
    goTo: (page: string) => `Go to ${page}`,
    next: "Next in the list",
    previous: "Previous in the list",
    off: "Single letters are switched off.",
    on: "Single letters are commands outside of text fields.",
    switchOff: "Switch single letters off",
    switchOn: "Switch single letters on",
    /** The names of keys whose names in the browser are not those on a keyboard. */
    names: {
      " ": "Space",
      Enter: "Enter",
      Escape: "Esc",
      ArrowDown: "↓",
      ArrowLeft: "←",
      ArrowRight: "→",
      ArrowUp: "↑",
      "Control+k": "Ctrl K",
      "Control+s": "Ctrl S",
    },
  },

  times: {
    now: "<1 min",
    minutes: (count: number) => `${count} min`,
    hours: (count: number) => `${count} h`,
    days: (count: number) => plural(count, "day"),
    today: (clock: string) => `Today ${clock}`,
    yesterday: (clock: string) => `Yesterday ${clock}`,
  },

  authors: {
    more: (count: number) => `and ${count} more`,
    andOthers: (names: string) => `${names} et al.`,
  },

  actors: {
    unknown: "unknown",
    unnamed: (kind: string) => `(unnamed ${kind})`,
    kinds: { person: "person", agent: "agent", software: "software" },
    named: (name: string, kind: string) => `${name} (${kind})`,
    checks: {
      sign_in: "by sign-in",
      token: "by token",
      credential: "by credential",
      terminal: "by terminal",
      dialog: "by dialog",
      account: "by account",
      none: "not authenticated",
    },
    startedBy: (name: string) => `started by ${name}`,
    writtenBy: (name: string) => `written by ${name}`,
    by: (name: string) => `by ${name}`,
    cancelledBy: "Cancelled by",
    resumedBy: "Resumed by",
    addedBy: "Added by",
  },

  decision: {
    approve: "Approve",
    edit: "Edit",
    reject: "Reject",
    include: "Include",
    maybe: "Maybe",
    exclude: "Exclude",
    undecided: "To review",
    yourVerdict: "Your verdict",
    reason: "Reason, kept in the record",
  },

  textTree: {
    table: "Table",
    figure: "Figure",
    figureElsewhere: "The shelf does not hold the picture.",
  },
});
