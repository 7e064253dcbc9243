import type { Actor } from "./api_types.ts";
import { removeDirections } from "./inbox/words.ts";
import { strings } from "./strings.ts";

const texts = strings.actors;

/** Return the name of who did something, with the kind of a program; "unknown" for data of earlier versions. */
export function describeActor(actor: Actor | null | undefined): string {
  if (!actor) return texts.unknown;
  const name = removeDirections(actor.name) || texts.unnamed;
  return actor.kind === "person" ? name : texts.program(name, texts.kinds[actor.kind]);
}
