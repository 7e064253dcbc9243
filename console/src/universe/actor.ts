import type { Actor } from "../api_types.ts";
import { strings } from "../strings.ts";

const texts = strings.universe.actors;

/** Return who changed something: the author, what kind of actor that is, and how that was established. */
export function formatActor(author: string | null, actor: Actor | null | undefined): string {
  if (!actor) return author ? `${author}, ${texts.unknown}` : texts.unknown;
  return `${author ?? actor.name}, ${texts.kinds[actor.kind]} ${texts.checks[actor.authenticated]}`;
}
