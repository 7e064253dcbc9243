/** Every text of ours is in src/strings.ts: no other source holds words that a person reads. */
import { type ESTree, parseSync, Visitor } from "vite";
import { expect, test } from "vitest";

const SOURCES = import.meta.glob<string>(
  ["../src/**/*.{ts,tsx}", "!../src/{strings,api_types}.ts", "!../src/styleguide/**"],
  {
    query: "?raw",
    import: "default",
    eager: true,
  },
);
const WORD = /\p{L}{2}/u;
const SENTENCE = /^\p{Lu}\p{Ll}+ | .*\p{Ll}\.$/u;
/** Properties whose value is read or heard; a single letter there is the name of a key. */
const READ =
  /^(alt|aria-(description|label|roledescription|valuetext)|aside|detail|hint|keyHint|label|placeholder|problem|text|title)$/;
/** Not ours: the start of a message of the browser, which the editor of workflows looks for. */
const FOREIGN = ["Unexpected token"];

/** Return the literal texts that an expression can have as its value. */
function listTexts(node: ESTree.Node | null): string[] {
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "string" ? [node.value] : [];
    case "TemplateLiteral":
      return [...node.quasis.map((one) => one.value.raw), ...node.expressions.flatMap(listTexts)];
    case "ConditionalExpression":
      return [node.consequent, node.alternate].flatMap(listTexts);
    case "LogicalExpression":
      return [node.left, node.right].flatMap(listTexts);
    case "BinaryExpression":
      return node.operator === "+" ? [node.left, node.right].flatMap(listTexts) : [];
    case "JSXExpressionContainer":
    case "ParenthesizedExpression":
      return listTexts(node.expression);
    case "JSXText":
      return [node.value.trim()];
    default:
      return [];
  }
}

/** Return the words in a source: in elements, in properties that are read, and in sentences anywhere but in errors. */
function findWords(file: string, source: string): string[] {
  const found = new Set<string>();
  let errors = 0;
  const add = (pattern: RegExp, texts: string[]) => {
    for (const text of texts) if (pattern.test(text) && !FOREIGN.includes(text)) found.add(text);
  };
  const addChildren = (node: { children: ESTree.JSXChild[] }) => add(WORD, node.children.flatMap(listTexts));
  const isError = (node: ESTree.NewExpression) => node.callee.type === "Identifier" && node.callee.name === "Error";
  new Visitor({
    JSXElement: addChildren,
    JSXFragment: addChildren,
    JSXAttribute: (node) => {
      if (node.name.type === "JSXIdentifier" && READ.test(node.name.name)) add(WORD, listTexts(node.value));
    },
    NewExpression: (node) => {
      if (isError(node)) errors += 1;
    },
    "NewExpression:exit": (node) => {
      if (isError(node)) errors -= 1;
    },
    Literal: (node) => {
      if (errors === 0) add(SENTENCE, listTexts(node));
    },
    TemplateElement: (node) => {
      if (errors === 0) add(SENTENCE, [node.value.raw]);
    },
  }).visit(parseSync(file, source).program);
  return [...found];
}

test("no source but strings.ts holds words that a person reads", () => {
  expect(Object.keys(SOURCES).length).toBeGreaterThan(100);
  const words = Object.entries(SOURCES).map(([file, source]) => [file, findWords(file, source)] as const);
  expect(words.filter(([, found]) => found.length > 0)).toEqual([]);
});

test.each([
  ["<p>Two words</p>", "Two words"],
  ["<p>{isOpen ? 'close' : texts.open}</p>", "close"],
  [`<>{\`\${count} papers\`}</>`, " papers"],
  ["<nav aria-label='pages' class='quiet small' />", "pages"],
  ["<Button keyHint='Enter' />", "Enter"],
  ["<Field label={name || 'unnamed'} />", "unnamed"],
  [`show(\`\${names[0]} et al.\`)`, " et al."],
  ["show('The server is gone')", "The server is gone"],
])("words in %s are found", (source, word) => {
  expect(findWords("example.tsx", source)).toEqual([word]);
});

test.each([
  "<Button keyHint='a' class='quiet small'>{texts.save}</Button>",
  "throw new Error('No such key.')",
  "<i>·</i>",
])("nothing is found in %s", (source) => {
  expect(findWords("example.tsx", source)).toEqual([]);
});
