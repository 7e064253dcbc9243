/** Our texts are in the strings.ts of each folder: no other source holds words that a person reads, and none is unused. */
import { type ESTree, parseSync, Visitor } from "vite";
import { expect, test } from "vitest";

const SOURCES = import.meta.glob<string>(
  ["../src/**/*.{ts,tsx}", "!../src/**/{strings,api_types}.ts", "!../src/styleguide/**"],
  {
    query: "?raw",
    import: "default",
    eager: true,
  },
);
/** All texts, by the name that their folder exports. */
const TEXTS = Object.assign({}, ...Object.values(import.meta.glob<object>("../src/**/strings.ts", { eager: true })));
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

test("no source but those named strings.ts holds words that a person reads", () => {
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

type Path = readonly string[];
type Aliases = Map<string, Path[]>;

/** Return the name of a variable, the names of properties after it, and all nodes of this chain; undefined if it is none. */
function readChain(node: ESTree.Node | null): { root: string; path: string[]; nodes: ESTree.Node[] } | undefined {
  switch (node?.type) {
    case "Identifier":
      return { root: node.name, path: [], nodes: [node] };
    case "ChainExpression":
    case "TSAsExpression":
    case "TSNonNullExpression":
    case "ParenthesizedExpression": {
      const inner = readChain(node.expression);
      return inner && { ...inner, nodes: [...inner.nodes, node] };
    }
    case "MemberExpression": {
      const inner = node.computed ? undefined : readChain(node.object);
      if (!inner || node.property.type !== "Identifier") return undefined;
      return { ...inner, path: [...inner.path, node.property.name], nodes: [...inner.nodes, node, node.property] };
    }
    default:
      return undefined;
  }
}

/** Return the paths of the texts that a source uses. Of a table that it uses whole or by a computed name: its path. */
function listUses(file: string, source: string, exported: readonly string[]): Path[] {
  const { program } = parseSync(file, source);
  const aliases: Aliases = new Map();
  const passed = new Set<ESTree.Node>();
  const resolve = (node: ESTree.Node | null) => {
    const chain = readChain(node);
    for (const one of chain?.nodes ?? []) passed.add(one);
    return (aliases.get(chain?.root ?? "") ?? []).map((start) => [...start, ...(chain?.path ?? [])]);
  };
  const addAlias = (name: ESTree.Node, path: Path) => {
    passed.add(name);
    if (name.type === "Identifier") aliases.set(name.name, [...(aliases.get(name.name) ?? []), path]);
  };
  new Visitor({
    ImportSpecifier: ({ imported, local }) => {
      passed.add(imported).add(local);
      if (imported.type === "Identifier" && exported.includes(imported.name)) addAlias(local, [imported.name]);
    },
    VariableDeclarator: ({ id, init }) => {
      if (!aliases.has(readChain(init)?.root ?? "")) return;
      for (const path of resolve(init)) {
        if (id.type !== "ObjectPattern") addAlias(id, path);
        else
          for (const one of id.properties)
            if (one.type === "Property" && one.key.type === "Identifier") {
              passed.add(one.key);
              addAlias(one.value, [...path, one.key.name]);
            }
      }
    },
  }).visit(program);
  const uses: Path[] = [];
  const addUse = (node: ESTree.Node) => {
    if (!passed.has(node)) uses.push(...resolve(node));
  };
  new Visitor({
    Property: ({ key, computed, shorthand }) => void (computed || shorthand || passed.add(key)),
    ChainExpression: addUse,
    MemberExpression: (node) => {
      addUse(node);
      if (!node.computed) passed.add(node.property);
    },
    Identifier: addUse,
  }).visit(program);
  return uses;
}

const startsWith = (path: Path, start: Path) => start.every((name, index) => name === path[index]);

/** Return the paths of the texts in a table that are not in `uses`, neither themselves nor with a table around them. */
function listUnused(table: object, uses: readonly Path[], above: Path = []): string[] {
  return Object.entries(table).flatMap(([name, text]) => {
    const path = [...above, name];
    if (uses.some((use) => startsWith(path, use))) return [];
    if (typeof text === "object" && !Array.isArray(text)) return listUnused(text, uses, path);
    return uses.some((use) => startsWith(use, path)) ? [] : [path.join(".")]; // a method of it may follow
  });
}

test("every text is used by a source", () => {
  const uses = Object.entries(SOURCES).flatMap(([file, source]) => listUses(file, source, Object.keys(TEXTS)));
  expect(Object.keys(TEXTS).length).toBeGreaterThan(10);
  expect(listUnused(TEXTS, uses)).toEqual([]);
});

test.each([
  ["const texts = page.a; show(texts.b);", ["page.a.c", "page.d.e.f", "page.d.e.g"]],
  ["const texts = page.d; show(texts.e[name]);", ["page.a.b", "page.a.c"]],
  ["show(page.d.e.g.join());", ["page.a.b", "page.a.c", "page.d.e.f"]],
  ["const { e } = page.d; show(e.f);", ["page.a.b", "page.a.c", "page.d.e.g"]],
  ["const { e: words } = page.d; show(<Table texts={words} />);", ["page.a.b", "page.a.c"]],
  ["show(page.a?.b ?? other.page, { page: 1 });", ["page.a.c", "page.d.e.f", "page.d.e.g"]],
  ["const texts = page.a; show(other.texts.c, other.texts);", ["page.a.b", "page.a.c", "page.d.e.f", "page.d.e.g"]],
])("of the texts, %s leaves unused: %j", (source, unused) => {
  const texts = { page: { a: { b: "B", c: () => "C" }, d: { e: { f: "F", g: ["G"] } } } };
  const list = (imported: string, rest: string) =>
    listUnused(texts, listUses("example.tsx", `import { ${imported} } from "./strings.ts"; ${rest}`, ["page"]));
  expect(list("page", source)).toEqual(unused);
  expect(list("page as own", source.replaceAll("page.", "own."))).toEqual(unused);
});
