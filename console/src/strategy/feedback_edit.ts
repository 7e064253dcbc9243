import { useDraft } from "../data/draft.ts";

/** The exact changes of the next plan that a person asks for beside words; the years as they are typed. */
export interface FeedbackEdit {
  add_terms: string[];
  exclude_terms: string[];
  drop_limits: string[];
  year_from: string;
  year_to: string;
  use_suggestions: string[];
}

const EMPTY: FeedbackEdit = {
  add_terms: [],
  exclude_terms: [],
  drop_limits: [],
  year_from: "",
  year_to: "",
  use_suggestions: [],
};

/** Use changes that survive reloading the page, as a draft does. */
export function useFeedbackDraft(key: string) {
  const draft = useDraft(`feedback.${key}`);
  const edit = parse(draft.text.value);
  return {
    edit,
    data: toFeedbackData(edit),
    clear: draft.clear,
    change(fields: Partial<FeedbackEdit>): void {
      draft.text.value = JSON.stringify({ ...parse(draft.text.peek()), ...fields });
    },
  };
}

/** Return the changes as the data of a decision; undefined without any. A year that cannot be read as a number is sent as typed. */
export function toFeedbackData(edit: FeedbackEdit): Record<string, unknown> | undefined {
  const { year_from, year_to, ...lists } = edit;
  const typed = Object.entries({ year_from, year_to }).filter(([, text]) => text.trim());
  const years = Object.fromEntries(typed.map(([name, text]) => [name, Number(text) || text]));
  const fields = Object.entries(lists).filter(([, items]) => items.length);
  if (typed.length) fields.push(["set_years", years as never]);
  return fields.length ? Object.fromEntries(fields) : undefined;
}

function parse(text: string): FeedbackEdit {
  try {
    return { ...EMPTY, ...(JSON.parse(text) as Partial<FeedbackEdit>) };
  } catch {
    return EMPTY;
  }
}
