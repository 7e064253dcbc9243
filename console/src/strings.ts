/** Every text of the console that is ours. Each page has its own section. */

/** Return a count with its noun: `plural(1, "paper")` is "1 paper". */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-GB")} ${count === 1 ? one : many}`;
}

export const strings = {
  product: "Uraniborg",

  navigation: {
    label: "Pages",
    skip: "Skip to the page",
    inbox: "Inbox",
    searches: "Searches",
    library: "Library",
    workflows: "Workflows",
    universes: "Universes",
    connections: "Connections",
    settings: "Settings",
    waiting: (count: number) => `${count} waiting`,
    home: "Uraniborg: go to the inbox",
  },

  connection: {
    connecting: "Connecting",
    live: "Live",
    reconnecting: "Reconnecting",
    lost: "The server does not answer. What you see may be old; what you typed is kept.",
  },

  times: {
    now: "now",
    minutes: (count: number) => `${count} min`,
    hours: (count: number) => `${count} h`,
    days: (count: number) => plural(count, "day"),
    today: (clock: string) => `Today ${clock}`,
    yesterday: (clock: string) => `Yesterday ${clock}`,
  },

  errors: {
    offline: "The server does not answer.",
    offlineHint: "Start it with `uraniborg serve`. This page continues by itself.",
    unexpected: "Something went wrong.",
    retryHint: "Try again.",
    retry: "Try again",
    code: "Code",
    notFound: "There is no such page.",
    notFoundHint: "The address may be mistyped, or the thing may have been deleted.",
    toInbox: "Go to the inbox",
    broken: "This page cannot be shown.",
    brokenHint: "Reload it. Nothing on the server has changed.",
    reload: "Reload",
  },

  states: {
    loading: "Loading",
  },

  actions: {
    cancel: "Cancel",
    close: "Close",
    back: "Back",
    copy: "Copy",
    copied: "Copied",
    showAll: (characters: number) => `Show all ${characters.toLocaleString("en-GB")} characters`,
    showLess: "Show less",
  },

  signIn: {
    title: "Sign in",
    lead: "Your name is recorded with your decisions.",
    name: "Your name",
    button: "Sign in",
    noToken: "This browser is not signed in.",
    noTokenHint:
      "Open the address that uraniborg serve prints: it ends with a token. If the server runs in a terminal, look there.",
    wrongToken: "The token in this address is not the one of this server.",
    wrongTokenHint: "Open the address that uraniborg serve printed last, in full.",
    expired: "You are signed out.",
    command: "uraniborg serve --open",
    again: "Or run this command: it opens this page and signs you in.",
    tokenLabel: "Or paste the token",
  },

  keys: {
    title: "Keys",
    open: "keys",
    everywhere: "Everywhere",
    palette: "Find or do anything",
    help: "Show the keys",
    goTo: (page: string) => `Go to ${page}`,
    off: "Single letters are switched off.",
    on: "Single letters are commands outside of text fields.",
    switchOff: "Switch single letters off",
    switchOn: "Switch single letters on",
  },

  palette: {
    label: "Find or do anything",
    placeholder: "Type a page or a command",
    nothing: "Nothing matches.",
    results: (count: number) => plural(count, "result"),
  },

  toasts: {
    label: "Messages",
    dismiss: "Dismiss",
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

  inbox: {
    title: "Inbox",
    waiting: "Waiting for you",
    decided: "Decided",
    empty: "Nothing waits for you.",
    emptyHint: "Your agent's next question will appear here.",
    startSearch: "Start a search",
  },

  settings: {
    title: "Settings",
    appearance: "Appearance",
    theme: "Theme",
    themes: { auto: "As the system", light: "Light", dark: "Dark" },
    keyboard: "Keyboard",
    letterKeys: "Single letters are commands",
    letterKeysHint: "Outside of text fields, for example j and k to move. Press ? to see them all.",
    person: "You",
    signedInAs: (name: string) => `Signed in as ${name}`,
    signOut: "Sign out",
  },
} as const;
