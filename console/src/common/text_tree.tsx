import type { ComponentChild } from "preact";
import type { PaperHit, TextPage } from "../data/api_types.ts";
import { checkLink, splitAtTerms } from "./foreign_text.tsx";
import { Formula } from "./formula.tsx";
import { commonTexts } from "./strings.ts";

export type Block = TextPage["nodes"][number];
export type Inline = PaperHit["snippet"][number];

interface TreeLook {
  /** Words to mark. */
  terms: readonly string[];
  /** The level of the highest heading, so that the headings of a text continue those of the page. */
  level: number;
  /** The position of the block to mark. */
  found: number | undefined;
}

const MOST_DEPTH = 40;
const MARKS = {
  emphasis: "em",
  strong: "strong",
  strikethrough: "s",
  subscript: "sub",
  superscript: "sup",
} as const;

/** A line of a paper, such as a passage. Words that matched are `strong`, and shown as marked. */
export function Passage({ nodes }: { nodes: readonly Inline[] }) {
  return (
    <>{nodes.map((node, index) => renderInline(node, index, { terms: [], level: 2, found: undefined }, 0, true))}</>
  );
}

/** Return the position of the block, or of the row of a table, that contains a position in the text. */
export function findBlockAt(blocks: readonly Block[], at: number, depth = 0): number | undefined {
  let found: number | undefined;
  for (const block of blocks) {
    if (typeof block.offset !== "number" || block.offset > at) break;
    found = block.offset;
    if (depth >= MOST_DEPTH) continue;
    if (block.type === "table") found = block.rows.findLast((row) => row.offset <= at)?.offset ?? found;
    if (block.type === "quote") found = findBlockAt(block.children, at, depth + 1) ?? found;
    if (block.type === "list") {
      for (const item of block.items) found = findBlockAt(item, at, depth + 1) ?? found;
    }
  }
  return found;
}

/** The text of a paper: a tree of blocks with formulas. It is never read as HTML. */
export function TextTree(props: {
  blocks: readonly Block[];
  terms?: readonly string[];
  level?: number;
  found?: number | undefined;
}) {
  const look: TreeLook = { terms: props.terms ?? [], level: props.level ?? 2, found: props.found };
  return (
    <div class="foreign prose text-tree" dir="auto">
      {renderBlocks(props.blocks, look, 0)}
    </div>
  );
}

function renderBlocks(blocks: readonly Block[], look: TreeLook, depth: number): ComponentChild[] {
  return depth < MOST_DEPTH ? blocks.map((block, index) => renderBlock(block, index, look, depth)) : [];
}

function renderBlock(block: Block, key: number, look: TreeLook, depth: number): ComponentChild {
  const inlines = (nodes: readonly Inline[]) => nodes.map((node, index) => renderInline(node, index, look, depth));
  const position = {
    "data-offset": block.offset ?? undefined,
    class: block.offset !== null && block.offset === look.found ? "found" : undefined,
  };
  switch (block.type) {
    case "heading": {
      const Heading = `h${Math.min(6, Math.max(2, block.level) + look.level - 2)}` as "h2";
      return (
        <Heading key={key} {...position}>
          {inlines(block.children)}
        </Heading>
      );
    }
    case "paragraph":
      return (
        <p key={key} {...position}>
          {inlines(block.children)}
        </p>
      );
    case "list": {
      const items = block.items.map((item, index) => (
        <li key={index} {...placeItem(item, look)}>
          {renderItem(item, look, depth + 1)}
        </li>
      ));
      return block.ordered ? (
        <ol key={key} {...position} start={block.start}>
          {items}
        </ol>
      ) : (
        <ul key={key} {...position}>
          {items}
        </ul>
      );
    }
    case "quote":
      return (
        <blockquote key={key} {...position}>
          {renderBlocks(block.children, look, depth + 1)}
        </blockquote>
      );
    case "table": {
      const className = `table-scroll ${position.class ?? ""}`;
      const scroll = { tabIndex: 0, role: "group" as const, "aria-label": commonTexts.textTree.table }; // also by keyboard
      return (
        <div key={key} {...position} {...scroll} class={className}>
          <table>
            <thead>
              <tr>
                {block.header.map((cell, index) => (
                  <th key={index} scope="col" class={block.align[index]}>
                    {inlines(cell)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row) => (
                <tr key={row.offset} data-offset={row.offset} class={row.offset === look.found ? "found" : undefined}>
                  {row.cells.map((cell, index) => (
                    <td key={index} class={block.align[index]}>
                      {inlines(cell)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    }
    case "code_block":
      return (
        <pre key={key} {...position}>
          <code>{block.text}</code>
        </pre>
      );
    case "math_block":
      return (
        <div key={key} {...position} class={`formula-block ${position.class ?? ""}`}>
          <Formula tex={block.tex} isBlock />
        </div>
      );
    case "rule":
      return <hr key={key} {...position} />;
    case "figure":
      return (
        <p key={key} {...position}>
          <Figure href={block.href}>{inlines(block.caption)}</Figure>
        </p>
      );
  }
}

/** Return the position of an item whose paragraph has no element of its own. */
function placeItem(item: readonly Block[], look: TreeLook) {
  const [only] = item;
  if (item.length !== 1 || only?.type !== "paragraph") return {};
  return { "data-offset": only.offset, class: only.offset === look.found ? "found" : undefined };
}

/** Return the blocks of an item of a list; a single paragraph without its element. */
function renderItem(item: readonly Block[], look: TreeLook, depth: number): ComponentChild {
  const [only] = item;
  if (item.length === 1 && only?.type === "paragraph") {
    return only.children.map((node, index) => renderInline(node, index, look, depth));
  }
  return renderBlocks(item, look, depth);
}

function renderInline(node: Inline, key: number, look: TreeLook, depth: number, isPassage = false): ComponentChild {
  if (depth >= MOST_DEPTH) return null;
  const children = (nodes: readonly Inline[]) =>
    nodes.map((one, index) => renderInline(one, index, look, depth + 1, isPassage));
  switch (node.type) {
    case "text":
      return markTerms(node.text, look.terms);
    case "code":
      return <code key={key}>{node.text}</code>;
    case "math":
      return <Formula key={key} tex={node.tex} isBlock={node.display} />;
    case "break":
      return <br key={key} />;
    case "figure":
      return (
        <Figure key={key} href={node.href}>
          {children(node.caption)}
        </Figure>
      );
    case "link": {
      const href = checkLink(node.href);
      return href ? (
        <a key={key} href={href} target="_blank" rel="noopener noreferrer">
          {children(node.children)}
        </a>
      ) : (
        <span key={key}>{children(node.children)}</span>
      );
    }
    default: {
      const Mark = isPassage && node.type === "strong" ? "mark" : (MARKS[node.type] ?? "span");
      return <Mark key={key}>{children(node.children)}</Mark>;
    }
  }
}

function markTerms(text: string, terms: readonly string[]): ComponentChild {
  if (!terms.length) return text;
  return splitAtTerms(text, terms).map((piece, index) => (index % 2 ? <mark key={`${index}`}>{piece}</mark> : piece));
}

/** A figure is a reference: nothing loads the picture from a foreign address. */
function Figure({ href, children }: { href: string | null; children: ComponentChild }) {
  const link = checkLink(href ?? undefined);
  return (
    <span class="figure-reference">
      <strong>{commonTexts.textTree.figure}</strong> {children}{" "}
      {link ? (
        <a href={link} target="_blank" rel="noopener noreferrer">
          {new URL(link).host}
        </a>
      ) : (
        <span class="quiet">{commonTexts.textTree.figureElsewhere}</span>
      )}
    </span>
  );
}
