import { findSyntaxProblem, JsonPositions, type ValueSpan } from "./json_positions.ts";

/** A text with a node that was inserted at [start, end). */
interface InsertedNode {
  text: string;
  start: number;
  end: number;
}

/**
 * Insert a node, as JSON, into the text of a workflow: at the cursor if that is between the brackets of `nodes`,
 * otherwise after the last node. A text that is not JSON, or has no list for nodes, gets the node at the cursor.
 */
export function insertNode(text: string, node: string, cursor = text.length): InsertedNode {
  const positions = new JsonPositions(text);
  const list = positions.find("nodes");
  if (findSyntaxProblem(text) || (list && text[list.start] !== "[")) return replace(text, cursor, cursor, "", node, "");
  if (!list) return insertFirstList(text, node, cursor);
  const items = listItems(positions);
  const [first] = items;
  if (!first) return replace(text, list.start + 1, list.end - 1, "\n    ", node, "\n  ");
  const isInside = list.start < cursor && cursor < list.end;
  const before = isInside ? items.filter((one) => one.start < cursor) : items;
  const gap = text.slice(list.start + 1, first.start) || " "; // the line break and the indentation of the list
  const last = before.at(-1);
  return last
    ? replace(text, last.end, last.end, `,${gap}`, node, "")
    : replace(text, first.start, first.start, "", node, `,${gap}`);
}

/** Insert a list with the node into a workflow that has no list of nodes yet. */
function insertFirstList(text: string, node: string, cursor: number): InsertedNode {
  const end = text.trimEnd().length - 1;
  if (text[end] !== "}") return replace(text, cursor, cursor, "", node, "");
  const start = text.slice(0, end).trimEnd().length;
  const comma = text[start - 1] === "{" ? "" : ",";
  return replace(text, start, end, `${comma}\n  "nodes": [\n    `, node, "\n  ]\n");
}

function listItems(positions: JsonPositions): ValueSpan[] {
  const items: ValueSpan[] = [];
  for (let item = positions.find("nodes[0]"); item; item = positions.find(`nodes[${items.length}]`)) items.push(item);
  return items;
}

function replace(text: string, from: number, to: number, before: string, node: string, after: string): InsertedNode {
  const start = from + before.length;
  return {
    text: text.slice(0, from) + before + node + after + text.slice(to),
    start,
    end: start + node.length,
  };
}
