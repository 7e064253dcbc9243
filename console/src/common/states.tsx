import type { ComponentChildren } from "preact";
import type { ApiError } from "../data/api_error.ts";
import { connection } from "../data/live.ts";
import type { Resource } from "../data/resource.ts";
import { Button, ButtonLink, CopyLine } from "./controls.tsx";
import { commonTexts } from "./strings.ts";

/** The list of the things that an error says one is missing of. */
const LISTS: Record<string, { href: string; label: string }> = {
  session_not_found: { href: "/searches", label: commonTexts.pages.searches },
  shelf_not_found: { href: "/library", label: commonTexts.pages.library },
  workflow_not_found: { href: "/workflows", label: commonTexts.pages.workflows },
  run_not_found: { href: "/workflows?view=runs", label: commonTexts.pages.runs },
  universe_not_found: { href: "/universes", label: commonTexts.pages.universes },
};

/**
 * Nothing is here: what will be, why not yet, and one thing to do, perhaps by a command, too. With `isPage` it is all
 * that a page has.
 */
export function EmptyState(props: {
  title: string;
  hint: string;
  isPage?: boolean;
  /** A command for a terminal that does the same. */
  command?: string;
  children?: ComponentChildren;
}) {
  const { title, hint, isPage = false, command, children } = props;
  const Title = isPage ? "h1" : "p";
  return (
    <div class="state">
      <Title class="state-title">{title}</Title>
      <p class="quiet">{hint}</p>
      {children}
      {command && (
        <div class="state-command">
          <span class="quiet small">{commonTexts.states.inTerminal}</span>
          <CopyLine text={command} label={commonTexts.states.inTerminal} />
        </div>
      )}
    </div>
  );
}

export function LoadingState() {
  return (
    <div class="state" role="status" aria-live="polite">
      <p class="quiet">{commonTexts.states.loading}</p>
    </div>
  );
}

/** Return whether the bar above every page already says that the server does not answer. */
function isInBar(error: ApiError): boolean {
  return error.code === "offline" && connection.value === "reconnecting";
}

/**
 * An error: what happened, what to do, its code, and a way to try again or one more thing to do. While the bar says that
 * the server does not answer, this waits for it.
 */
export function ErrorState({
  error,
  onRetry,
  children,
}: {
  error: ApiError;
  onRetry?: () => void;
  children?: ComponentChildren;
}) {
  if (isInBar(error)) return <LoadingState />;
  const list = Object.hasOwn(LISTS, error.code) ? LISTS[error.code] : undefined;
  return (
    <div class="state" role="alert">
      <p class="state-title">{error.message}</p>
      {error.hint && <p class="quiet">{markCode(error.hint)}</p>}
      <p class="quiet">
        {commonTexts.errors.code} <code>{error.code}</code>
      </p>
      {list && <ButtonLink href={list.href}>{list.label}</ButtonLink>}
      {onRetry && <Button onClick={onRetry}>{commonTexts.errors.retry}</Button>}
      {children}
    </div>
  );
}

/** Return a text of the server with its words in backticks as code. A text with a single backtick stays as it is. */
export function markCode(text: string): ComponentChildren {
  const parts = text.split("`");
  if (parts.length % 2 === 0) return text;
  return parts.map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part));
}

/** The text of an error: what happened, and below it further lines, such as a traceback, as they are. */
export function ErrorMessage({ text }: { text: string }) {
  const [first = "", ...rest] = text.split("\n");
  return (
    <>
      <p dir="auto">
        <strong>{first}</strong>
      </p>
      {rest.length > 0 && (
        <pre class="json" dir="auto">
          {rest.join("\n")}
        </pre>
      )}
    </>
  );
}

/** An error beside content that is still useful. */
export function ErrorNote({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  if (isInBar(error)) return null;
  return (
    <div class="note no" role="alert">
      <p>
        <strong>{error.message}</strong> {markCode(error.hint)}
      </p>
      {onRetry && (
        <Button kind="quiet" onClick={onRetry}>
          {commonTexts.errors.retry}
        </Button>
      )}
    </div>
  );
}

/** Show a resource: loading, an error, or its value. An error beside a value that is still there is a note. */
export function Loaded<T>({
  resource,
  children,
}: {
  resource: Resource<T>;
  children: (value: T) => ComponentChildren;
}) {
  const value = resource.value.value;
  const error = resource.error.value;
  if (value === undefined) {
    return error ? <ErrorState error={error} onRetry={resource.reload} /> : <LoadingState />;
  }
  return (
    <>
      {error && <ErrorNote error={error} onRetry={resource.reload} />}
      {children(value)}
    </>
  );
}
