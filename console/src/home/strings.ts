import { makeTexts, plural } from "../common/wording.ts";

export const homeTexts = makeTexts({
  title: "What do you want to do?",
  all: (count: number) => `All ${count.toLocaleString("en-GB")}`,

  decide: {
    title: "Decide",
    empty: "No plan and no workflow waits for you. Searches, workflows and your agents ask here before they continue.",
    action: "Open the inbox",
    connect: "Connect an agent",
  },
  review: {
    title: "Review papers",
    empty: "No review is open. When a search has found papers, you include or exclude them one by one.",
    papers: (count: number) => plural(count, "paper"),
    action: "Continue the review",
    searches: "Open the searches",
    all: "Waiting searches",
  },
  search: {
    title: "Search",
    empty: "Ask a question in a sentence. You see the plan before anything is sent to a source.",
    action: "Start a search",
  },
  read: {
    title: "Read and cite",
    empty: "A shelf holds papers to read, search and cite. Build one from files, or put the papers of a review on one.",
    action: "Open the library",
    papers: (count: number) => plural(count, "paper"),
    sample: "sample",
  },
  run: {
    title: "Run a workflow",
    empty:
      "A workflow is a list of steps that runs the same way each time. Write a draft, or let your agent write one.",
    workflow: "not run yet",
    action: "Choose a workflow",
    write: "Write a draft",
  },
  explore: {
    title: "Explore a universe",
    empty: "A universe holds bodies with their orbits. Commands change it, and every version is kept.",
    version: (version: number) => `version ${version}`,
    action: "Create a universe",
  },

  newHere: "New here?",
  story: "The story answers one question with every part, without a network.",
});
