import type { ComponentChildren, Ref } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { copyText } from "./clipboard.ts";
import { Icon, type IconName } from "./icon.tsx";
import { commonTexts } from "./strings.ts";

const COPIED_MS = 4_000;

export function Key({ children }: { children: string }) {
  return <kbd class="key">{children}</kbd>;
}

interface ButtonProps {
  children: ComponentChildren;
  onClick?: (() => void) | undefined;
  kind?: "primary" | "plain" | "danger" | "quiet";
  /** The key that does the same, shown on the button. */
  keyHint?: string | undefined;
  icon?: IconName;
  isDisabled?: boolean | undefined;
  isBusy?: boolean | undefined;
  type?: "button" | "submit";
  label?: string;
  title?: string;
}

export function Button(props: ButtonProps) {
  const { children, onClick, kind = "plain", keyHint, icon, isDisabled, isBusy, type = "button", label, title } = props;
  return (
    <button
      class={`button ${kind}`}
      type={type}
      onClick={onClick}
      disabled={isDisabled || isBusy}
      aria-busy={isBusy ? "true" : undefined}
      aria-label={label}
      aria-keyshortcuts={keyHint}
      title={title}
    >
      {icon && <Icon name={icon} />}
      <span>{children}</span>
      {keyHint && (
        <span class="key-hint" aria-hidden="true">
          <Key>{keyHint.length === 1 ? keyHint.toUpperCase() : keyHint}</Key>
        </span>
      )}
    </button>
  );
}

/** A link that looks like a button. */
export function ButtonLink(props: {
  href: string;
  children: ComponentChildren;
  kind?: "primary" | "plain" | "quiet";
  keyHint?: string | undefined;
}) {
  return (
    <a class={`button ${props.kind ?? "plain"}`} href={props.href} aria-keyshortcuts={props.keyHint}>
      <span>{props.children}</span>
      {props.keyHint && (
        <span class="key-hint" aria-hidden="true">
          <Key>{props.keyHint.toUpperCase()}</Key>
        </span>
      )}
    </a>
  );
}

export function IconButton({ icon, label, onClick }: { icon: IconName; label: string; onClick: () => void }) {
  return (
    <button class="icon-button" type="button" onClick={onClick} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}

export type Tone = "neutral" | "accent" | "yes" | "no" | "maybe" | "waiting";

/** A word with the colour of its state; the colour alone never says anything. */
export function Tag({ tone = "neutral", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`tag ${tone}`}>{children}</span>;
}

/** A state as a dot and a word. */
export function Dot({ tone, children }: { tone: Tone | "hollow"; children: ComponentChildren }) {
  return (
    <span class="dot-line">
      <span class={`dot ${tone}`} aria-hidden="true" />
      <span>{children}</span>
    </span>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  hint?: string | undefined;
  problem?: string | undefined;
  isMono?: boolean;
  lines?: number;
  maxLength?: number;
  placeholder?: string;
  autoComplete?: string;
  isSecret?: boolean;
  isReadOnly?: boolean;
  autoFocus?: boolean;
  /** Called for Ctrl Enter in a field of several lines. Without it, Ctrl Enter submits the form of the field. */
  onSubmit?: (() => void) | undefined;
}

export function TextField(props: FieldProps) {
  const id = useId();
  const field = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (!props.autoFocus || !field.current) return;
    field.current.autofocus = true; // a dialog that opens next reads it
    field.current.focus();
  }, []);
  const described = props.problem || props.hint ? `${id}-note` : undefined;
  const shared = {
    id,
    value: props.value,
    maxLength: props.maxLength,
    readOnly: props.isReadOnly,
    placeholder: props.placeholder,
    autoComplete: props.autoComplete ?? "off",
    "aria-describedby": described,
    "aria-invalid": props.problem ? ("true" as const) : undefined,
    class: props.isMono ? "mono" : "",
  };
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.lines ? (
        <textarea
          {...shared}
          ref={field as Ref<HTMLTextAreaElement>}
          rows={props.lines}
          onInput={(event) => props.onInput(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
            event.preventDefault();
            if (props.onSubmit) props.onSubmit();
            else event.currentTarget.form?.requestSubmit();
          }}
        />
      ) : (
        <input
          {...shared}
          ref={field as Ref<HTMLInputElement>}
          {...(props.isSecret ? { type: "password" as const } : { type: "text" as const })}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
      {described && (
        <p id={described} class={props.problem ? "problem" : "hint"} role={props.problem ? "alert" : undefined}>
          {props.problem ?? props.hint}
        </p>
      )}
    </div>
  );
}

export function Checkbox(props: {
  label: string;
  isChecked: boolean;
  onChange: (value: boolean) => void;
  hint?: string;
}) {
  const id = useId();
  return (
    <div class="checkbox">
      <input
        id={id}
        type="checkbox"
        checked={props.isChecked}
        aria-describedby={props.hint ? `${id}-hint` : undefined}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <label for={id}>{props.label}</label>
      {props.hint && (
        <p id={`${id}-hint`} class="hint">
          {props.hint}
        </p>
      )}
    </div>
  );
}

interface Choice<V extends string> {
  value: V;
  label: string;
}

/** One of a few values, as a row of radio buttons. */
export function Choices<V extends string>(props: {
  label: string;
  value: V;
  choices: readonly Choice<V>[];
  onChange: (value: V) => void;
}) {
  const name = useId();
  return (
    <fieldset class="choices">
      <legend>{props.label}</legend>
      {props.choices.map((choice) => (
        <label key={choice.value} class={choice.value === props.value ? "choice chosen" : "choice"}>
          <input
            type="radio"
            name={name}
            checked={choice.value === props.value}
            onChange={() => props.onChange(choice.value)}
          />
          <span>{choice.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

export function Select<V extends string>(props: {
  label: string;
  value: V;
  choices: readonly Choice<V>[];
  onChange: (value: V) => void;
}) {
  const id = useId();
  return (
    <div class="field inline">
      <label for={id}>{props.label}</label>
      <select id={id} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value as V)}>
        {props.choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A line to copy, such as a command. */
export function CopyLine({ text, label }: { text: string; label: string }) {
  /** Whether the last attempt succeeded; undefined before it, and some seconds after a success. */
  const [isCopied, setCopied] = useState<boolean>();
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(undefined), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const word = isCopied ? commonTexts.actions.copied : commonTexts.actions.copy;
  return (
    <>
      <div class="copy-line">
        <code>{text}</code>
        <Button
          kind="quiet"
          icon={isCopied ? "check" : "copy"}
          onClick={() => void copyText(text).then(setCopied)}
          label={`${word}: ${label}`}
        >
          {word}
        </Button>
      </div>
      {isCopied === false && (
        <p class="problem small" role="alert">
          {commonTexts.actions.notCopied}
        </p>
      )}
    </>
  );
}
