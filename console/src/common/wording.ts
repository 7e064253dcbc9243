/** Return a count with its noun: `plural(1, "paper")` is "1 paper". */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-GB")} ${count === 1 ? one : many}`;
}

/**
 * Return the texts of a folder of pages, without what every object inherits: a foreign word such as `__proto__` or
 * `constructor` finds no text.
 */
export function makeTexts<const T extends object>(texts: T): T {
  Object.setPrototypeOf(texts, null);
  for (const part of Object.values(texts)) {
    if (part !== null && typeof part === "object" && !Array.isArray(part)) makeTexts(part);
  }
  return texts;
}
