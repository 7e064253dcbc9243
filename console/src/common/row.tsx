import type { ComponentChildren } from "preact";
import { Tag, type Tone } from "./controls.tsx";

/** The height of a row in a list, in pixels: lists of any length need one height. */
export const ROW_HEIGHT = 104;

/** A row of a list: state and age, a title on at most two lines, one quiet line. */
export function Row(props: {
  href: string;
  tag: string;
  tone: Tone;
  aside?: ComponentChildren;
  title: string;
  detail: string;
  isCurrent: boolean;
  /** The title is foreign text, such as that of a paper. */
  isForeign?: boolean;
}) {
  return (
    <a class="row" href={props.href} aria-current={props.isCurrent ? "true" : undefined}>
      <span class="row-top">
        <Tag tone={props.tone}>{props.tag}</Tag>
        <span class="quiet small">{props.aside}</span>
      </span>
      <span class={props.isForeign ? "row-title foreign" : "row-title"} dir="auto">
        {props.title}
      </span>
      <span class="row-detail quiet small" dir="auto">
        {props.detail}
      </span>
    </a>
  );
}
