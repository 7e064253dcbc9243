import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button, IconButton } from "./controls.tsx";
import { commonTexts } from "./strings.ts";
import { useSubmission } from "./submit_form.tsx";
import { showError } from "./toasts.tsx";

const FIRST_FIELD = "[autofocus], input:checked, input:not([type=radio]), select, textarea";

/** The main button; of dialogs that destroy something the one beside it, so that Enter destroys nothing. */
const MAIN_BUTTON = ".button.primary, .button.danger ~ .button";

/**
 * A modal dialog. Its first field has the focus, else its main button, else the button that closes it. Escape closes
 * it, too.
 */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  footer?: ComponentChildren;
  kind?: "plain" | "wide" | "palette";
}) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const pressed = useRef<EventTarget>(null);
  const { onClose } = props;
  // At once, so that no key that follows the one that opens the dialog reaches the page behind it
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    const find = (selector: string) => dialog?.querySelector<HTMLElement>(selector);
    dialog?.showModal();
    const first = find(FIRST_FIELD) ?? find(MAIN_BUTTON);
    first?.focus();
    const opened = document.activeElement;
    const observer = new MutationObserver(() => {
      const field = find("form")?.querySelector<HTMLElement>(FIRST_FIELD);
      if (!field) return;
      observer.disconnect();
      if (document.activeElement === opened) field.focus();
    });
    // A form that is still loading
    if (dialog && !first) observer.observe(dialog, { childList: true, subtree: true });
    return () => {
      observer.disconnect();
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside the dialog closes it; the key for this is Escape
    <dialog
      ref={element}
      class={`dialog ${props.kind ?? "plain"}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        pressed.current = event.target;
      }}
      onClick={(event) => {
        // A text that is selected from a field to a point beside the dialog ends in a click on the dialog, too
        if (event.target === element.current && pressed.current === element.current) onClose();
      }}
    >
      <div class="dialog-body">
        <header class={props.kind === "palette" ? "visually-hidden" : ""}>
          <h2 id={id}>{props.title}</h2>
          {props.kind !== "palette" && <IconButton icon="close" label={commonTexts.actions.close} onClick={onClose} />}
        </header>
        {props.children}
        {props.footer && <footer>{props.footer}</footer>}
      </div>
    </dialog>
  );
}

/** Ask before something that cannot be undone, do it with `onConfirm`, and close. An error is shown as a message. */
export function ConfirmDialog(props: {
  title: string;
  text: string;
  action: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const { busy, send } = useSubmission({}, showError);
  return (
    <Dialog
      title={props.title}
      onClose={props.onClose}
      footer={
        <>
          <Button
            kind="danger"
            onClick={() => void send("submit", () => props.onConfirm().finally(props.onClose))}
            isBusy={busy !== undefined}
          >
            {props.action}
          </Button>
          <Button onClick={props.onClose}>{commonTexts.actions.cancel}</Button>
        </>
      }
    >
      <p>{props.text}</p>
    </Dialog>
  );
}
