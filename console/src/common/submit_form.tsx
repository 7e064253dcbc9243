import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type ApiError, toApiError } from "../data/api_error.ts";
import { connection } from "../data/live.ts";
import { Button } from "./controls.tsx";
import { ErrorNote } from "./states.tsx";
import { commonTexts } from "./strings.ts";

/** What is wrong with the fields of a form, by the names of the fields. */
export type Problems = Readonly<Record<string, string | undefined>>;

interface Submission<Kind extends string> {
  /** The request that is on its way. */
  busy: Kind | undefined;
  /** Why the last request failed; removed when a server that was away answers again. */
  error: ApiError | undefined;
  /** The problems to show beside the fields: none before the first attempt to send. */
  problems: Problems;
  /** Call `work` and return whether it succeeded. Nothing is sent while a field has a problem or a request is on its way. */
  send(kind: Kind, work: () => Promise<unknown>): Promise<boolean>;
  setError(error: ApiError | undefined): void;
}

/**
 * Use the state of a form: one request at a time, its error, and the problems of the fields. With `onError`, errors are
 * passed to it and are not part of the state.
 */
export function useSubmission<Kind extends string = "submit">(
  problems: Problems = {},
  onError?: (error: ApiError) => void,
): Submission<Kind> {
  const [busy, setBusy] = useState<Kind>();
  const [error, setError] = useState<ApiError>();
  const [hasTried, setTried] = useState(false);
  const isSending = useRef(false); // known before the page is drawn again
  useEffect(
    () =>
      connection.subscribe((state) => {
        if (state === "live") setError((last) => (last?.code === "offline" ? undefined : last));
      }),
    [],
  );
  async function send(kind: Kind, work: () => Promise<unknown>): Promise<boolean> {
    if (isSending.current) return false;
    setTried(true);
    if (Object.values(problems).some(Boolean)) return false;
    isSending.current = true;
    setBusy(kind);
    setError(undefined);
    try {
      await work();
      return true;
    } catch (thrown) {
      (onError ?? setError)(toApiError(thrown));
      return false;
    } finally {
      isSending.current = false;
      setBusy(undefined);
    }
  }
  return { busy, error, problems: hasTried ? problems : {}, send, setError };
}

/**
 * A form with its error and its buttons. A request that fails leaves the fields as they are. The first field with a
 * problem gets the focus, and an error is scrolled into view.
 */
export function SubmitForm<Kind extends string = "submit">(props: {
  submission: Submission<Kind | "submit">;
  /** The word on the button that sends the form. */
  action: string;
  onSubmit: () => Promise<unknown>;
  onCancel?: () => void;
  kind?: "primary" | "danger";
  isDisabled?: boolean;
  class?: string;
  /** Further buttons. */
  buttons?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { submission } = props;
  const form = useRef<HTMLFormElement>(null);
  const [refusals, setRefusals] = useState(0);
  useEffect(() => {
    if (refusals) showFirstProblem(form.current);
  }, [refusals]);
  async function submit(): Promise<void> {
    if (!(await submission.send("submit", props.onSubmit))) setRefusals((count) => count + 1);
  }
  return (
    <form
      ref={form}
      class={`form ${props.class ?? ""}`}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!props.isDisabled) void submit();
      }}
    >
      {props.children}
      {submission.error && <ErrorNote error={submission.error} />}
      <footer class="form-footer">
        <Button
          type="submit"
          kind={props.kind ?? "primary"}
          isBusy={submission.busy === "submit"}
          isDisabled={props.isDisabled}
        >
          {props.action}
        </Button>
        {props.buttons}
        {props.onCancel && <Button onClick={props.onCancel}>{commonTexts.actions.cancel}</Button>}
      </footer>
    </form>
  );
}

function showFirstProblem(form: HTMLFormElement | null): void {
  const field = form?.querySelector<HTMLElement>("[aria-invalid=true]");
  field?.closest("details")?.setAttribute("open", "");
  field?.focus();
  if (!field) form?.querySelector("[role=alert]")?.scrollIntoView?.({ block: "nearest" });
}
