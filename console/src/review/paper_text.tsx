import type { ComponentChild } from "preact";
import type { TextNodeReply } from "../data/api_types.ts";

const TAGS = { sub: "sub", sup: "sup", italic: "i", bold: "b" } as const;

function renderNode(node: TextNodeReply, index: number): ComponentChild {
  if (node.kind === "text") return node.matched ? <mark key={index}>{node.text}</mark> : node.text;
  if (node.kind === "math") {
    return (
      <span key={index} class={node.block ? "formula block" : "formula"} title={node.latex ?? undefined}>
        {node.text}
      </span>
    );
  }
  const Tag = TAGS[node.kind];
  return <Tag key={index}>{node.children ? node.children.map(renderNode) : node.text}</Tag>;
}

/** The words of a paper: a tree of text, formulas and a few marks. Matched words are highlighted. */
export function PaperText({ nodes }: { nodes: readonly TextNodeReply[] }) {
  return <>{nodes.map(renderNode)}</>;
}
