/** Where a value is in a JSON text: [start, end) of the value, and of its key if it has one. */
export interface ValueSpan {
  start: number;
  end: number;
  key?: { start: number; end: number };
}

interface ParsedValue extends ValueSpan {
  inner?: Map<string, ParsedValue>;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The positions of the values of a JSON text, by paths such as `nodes[0].params.url`. */
export class JsonPositions {
  private readonly root: ParsedValue | undefined;

  constructor(text: string) {
    this.root = parseTree(text);
  }

  /** Return the position of a value, or undefined if it is not there. */
  find(path: string): ValueSpan | undefined {
    const found = this.root && findDeepest(this.root, path);
    return found && found.length === path.length ? found.value : undefined;
  }

  /** Return the position of a value, or of the object around it that exists. */
  findNearest(path: string): ValueSpan | undefined {
    return this.root && findDeepest(this.root, path).value;
  }

  /** Return whether an object has a value of this name. */
  has(path: string, name: string): boolean {
    const found = this.root && findDeepest(this.root, path);
    return found?.length === path.length && (found.value.inner?.has(name) ?? false);
  }
}

/** Read a text without recursion. A text that is not JSON gives what can be read of it. */
function parseTree(text: string): ParsedValue | undefined {
  const outermost = new Map<string, ParsedValue>();
  let values = outermost;
  const around: { values: Map<string, ParsedValue>; takesKeys: boolean; value: ParsedValue }[] = [];
  let takesKeys = false;
  let key: { name: string; start: number; end: number } | undefined;
  for (const token of text.matchAll(TOKEN)) {
    const sign = token[0];
    const start = token.index;
    const end = start + sign.length;
    if (sign === "]" || sign === "}") {
      const outer = around.pop();
      if (!outer) return undefined;
      outer.value.end = end;
      ({ values, takesKeys } = outer);
      key = undefined;
    } else if (takesKeys && !key && sign.startsWith('"')) {
      key = { name: readString(sign), start, end };
    } else if (sign !== "," && sign !== ":") {
      const value: ParsedValue = { start, end };
      if (key) value.key = { start: key.start, end: key.end };
      values.set(key ? key.name : `[${values.size}]`, value);
      key = undefined;
      if (sign === "[" || sign === "{") {
        around.push({ values, takesKeys, value });
        values = new Map();
        takesKeys = sign === "{";
        value.inner = values;
      }
    }
  }
  return outermost.get("[0]");
}

function readString(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal.slice(1, -1);
  }
}

/** A key may itself contain dots and brackets, so every prefix of the path is tried as a key. */
function findDeepest(value: ParsedValue, path: string): { length: number; value: ParsedValue } {
  let best = { length: 0, value };
  const start = path.startsWith(".") || path.startsWith("/") ? 1 : 0;
  for (let end = start + 1; end <= path.length; end += 1) {
    if (end < path.length && !".[/".includes(path[end] ?? "")) continue;
    const inner = value.inner?.get(path.slice(start, end));
    if (!inner) continue;
    const found = findDeepest(inner, path.slice(end));
    if (end + found.length > best.length) best = { length: end + found.length, value: found.value };
  }
  return best;
}

/** Return the line and the column of a position, both counted from 1. */
export function findLine(text: string, position: number): { line: number; column: number } {
  const before = text.slice(0, position);
  const line = before.split("\n").length;
  return { line, column: position - before.lastIndexOf("\n") };
}

/** Return what is wrong with a text that is not JSON, and where; undefined if it is JSON. */
export function findSyntaxProblem(text: string): { message: string; position: number } | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const offset = /position (\d+)/.exec(message);
    const lineAndColumn = /line (\d+) column (\d+)/.exec(message);
    const position = offset
      ? Number(offset[1])
      : lineAndColumn
        ? findPosition(text, Number(lineAndColumn[1]), Number(lineAndColumn[2]))
        : findUnexpectedToken(text, message);
    const shown = message
      .replace(/ in JSON at position.*$/s, "")
      .replace(/, (\.\.\.)?".* is not valid JSON$/s, "")
      .replace(/^JSON\.parse: /, "");
    return { message: shown, position };
  }
}

/** Chromium does not say where an unexpected token is: find the shortest beginning of the text that has it. */
function findUnexpectedToken(text: string, message: string): number {
  if (!hasUnexpectedToken(message)) return text.length;
  let low = 0;
  let high = text.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    try {
      JSON.parse(text.slice(0, middle));
      low = middle;
    } catch (error) {
      if (error instanceof SyntaxError && hasUnexpectedToken(error.message)) high = middle;
      else low = middle;
    }
  }
  return low;
}

function hasUnexpectedToken(message: string): boolean {
  return message.startsWith("Unexpected token");
}

function findPosition(text: string, line: number, column: number): number {
  const lines = text.split("\n").slice(0, line - 1);
  return lines.reduce((sum, one) => sum + one.length + 1, 0) + column - 1;
}
