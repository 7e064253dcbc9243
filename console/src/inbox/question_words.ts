import { describePerson, removeDirections } from "../common/actor_words.ts";
import type { Tone } from "../common/controls.tsx";
import { inboxTexts as texts } from "./strings.ts";

/** How a question was decided. */
export interface Answer {
  action?: string | null | undefined;
  note?: string | null | undefined;
  door?: string | null | undefined;
  decided_by?: string | null | undefined;
}

interface QuestionState extends Answer {
  state: string;
}

/** Return the word and the colour for the state of a question. */
export function describeState(kind: string, question: QuestionState): { tag: string; tone: Tone } {
  if (question.state === "pending") return { tag: texts.kinds[kind] ?? texts.otherKind, tone: "waiting" };
  if (question.state === "withdrawn") return { tag: texts.withdrawn, tone: "neutral" };
  const action = question.action ?? "";
  return { tag: texts.actions[action] ?? action, tone: action === "reject" ? "no" : "yes" };
}

/** Return who decided: "you" if it was the person of this browser. */
export function describeDecider(question: Answer, me: string): string {
  if (!question.decided_by) return texts.somebody;
  return isOwn(question, me) ? texts.you : removeDirections(question.decided_by);
}

/** Return true if the person of this browser decided. */
export function isOwn(question: Answer, me: string): boolean {
  return question.decided_by === describePerson(me);
}

export function describeDoor(question: Answer): string {
  return texts.doors[question.door ?? ""] ?? question.door ?? "";
}

/** Return how a question was decided, by whom and where. */
export function describeDecided(answer: Answer, me: string): string {
  const { tag } = describeState("", { ...answer, state: "decided" });
  return texts.decidedWord(tag, describeDecider(answer, me), describeDoor(answer));
}

/** Return how a question was decided, by whom, where and why, in sentences. */
export function describeAnswer(answer: Answer, me: string): string {
  const words = `${describeDecided(answer, me)}. ${texts.firstIsFinal}`;
  return answer.note ? `${words} “${answer.note}”` : words;
}
