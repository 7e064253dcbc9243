import type { Actor } from "../data/api_types.ts";
import { commonTexts } from "./strings.ts";

const texts = commonTexts.actors;
const BRACKET = /[\p{Ps}\p{Pe}]/u;
/** Names that a person may claim and that read as another kind of actor. */
const KIND_WORDS = ["person", "agent", "software", "unknown", "mcp client", "rest client"];

/**
 * Return the name of who did something, with the kind of a program; "unknown" for data of earlier versions. The kind
 * also follows the name of a person that could be read as a kind. `describe_actor` of the server returns the same.
 */
export function describeActor(actor: Actor | null | undefined): string {
  if (!actor) return texts.unknown;
  const name = removeDirections(actor.name);
  if (!name) return texts.unnamed(texts.kinds[actor.kind]);
  const readsAsKind = BRACKET.test(name) || KIND_WORDS.includes(name.toLowerCase());
  return actor.kind === "person" && !readsAsKind ? name : texts.named(name, texts.kinds[actor.kind]);
}

/** Return a name without the characters that turn the direction of text: they would turn our words after it, too. */
export function removeDirections(name: string): string {
  return name.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
}

/** Return who did something and how that was established; the author if an earlier version stored no actor. */
export function describeAuthor(author: string | null, actor: Actor | null | undefined): string {
  if (!actor) return author ? `${author}, ${texts.unknown}` : texts.unknown;
  return `${describeActor(actor)}, ${texts.checks[actor.authenticated]}`;
}

/** Return the description of the person who is signed in by this name, as a record of the server has it. */
export function describePerson(name: string): string {
  return describeActor({ kind: "person", name, authenticated: "sign_in" });
}
