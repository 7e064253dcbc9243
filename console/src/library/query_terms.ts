const OPERATORS = new Set(["AND", "OR", "NOT"]);

/** Return the words and phrases of a query that are worth marking in a text. */
export function listTerms(query: string): string[] {
  const terms: string[] = [];
  for (const [part] of query.matchAll(/-?(?:\w+:)?(?:"[^"]*"|[^\s"]+)/gu)) {
    if (part.startsWith("-") || /^(?:year|is|sort|doi|arxiv):/i.test(part)) continue;
    const words = part.replace(/^\w+:/u, "").replaceAll('"', "").replace(/\*$/, "").trim();
    if (words.length > 1 && !OPERATORS.has(words)) terms.push(words);
  }
  return terms;
}
