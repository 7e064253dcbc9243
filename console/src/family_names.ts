const GROUP =
  /\b(agency|association|cent(er|re)|collaboration|commission|committee|consortium|council|foundation|group|institut[eo]?|laborator(y|ies)|network|observatory|office|organi[sz]ation|project|society|survey|team|universit\w+)\b/i;
const PARTICLE = /^\p{Ll}/u;

/** Return the family name with its particles, as the server splits names: "de Wit" of "Julien de Wit". Groups are one name. */
export function getFamilyName(name: string): string {
  if (GROUP.test(name)) return name;
  const comma = name.indexOf(",");
  if (comma > 0) return name.slice(0, comma);
  const words = name.trim().split(/\s+/);
  const particle = words.findIndex((word, index) => index < words.length - 1 && PARTICLE.test(word));
  return words.slice(particle < 0 ? -1 : particle).join(" ");
}
