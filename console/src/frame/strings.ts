import { makeTexts, plural } from "../common/wording.ts";

export const frameTexts = makeTexts({
  connection: {
    connecting: "Connecting",
    live: "Live",
    reconnecting: "Reconnecting",
    lost: "The server does not answer. Start it again with the command that you started it with. What you see may be old; what you typed is kept.",
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

  palette: {
    label: "Find or do anything",
    placeholder: "A page, a command, words of a paper, a search, a run, a universe",
    nothing: "Nothing matches.",
    searching: "Searching …",
    results: (count: number) => plural(count, "result"),
    go: "Go to",
    here: "On this page",
    everywhere: "Everywhere",
    searches: "Searches",
    shelves: "Shelves",
    papers: "Papers",
    workflows: "Workflows",
    runs: "Runs",
    universes: "Universes",
    theme: (name: string) => `Theme: ${name}`,
    startSearch: "Start a search",
    newDraft: "New draft of a workflow",
  },
});
