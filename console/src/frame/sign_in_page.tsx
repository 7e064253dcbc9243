import { useState } from "preact/hooks";
import { Button, CopyLine, TextField } from "../common/controls.tsx";
import { Icon } from "../common/icon.tsx";
import { commonTexts } from "../common/strings.ts";
import { useSubmission } from "../common/submit_form.tsx";
import { type Session, signIn } from "../data/session.ts";
import { frameTexts } from "./strings.ts";

type SignedOut = Extract<Session, { state: "signedOut" }>;

/** Ask for the name with the token of the address; without a token, say where to find it. */
export function SignInPage({ session }: { session: SignedOut }) {
  const [name, setName] = useState(session.name);
  const [token, setToken] = useState(session.token);
  const { busy, send } = useSubmission();
  const isWrong = session.error?.status === 401;
  const texts = frameTexts.signIn;
  const needsToken = !session.token;

  function submit(event: Event): void {
    event.preventDefault();
    void send("submit", () => signIn(token.trim(), name));
  }

  return (
    <main class="sign-in">
      <div class="sign-in-sheet">
        <p class="brand">
          <Icon name="universe" />
          {commonTexts.product}
        </p>
        <h1>
          {isWrong
            ? texts.wrongToken
            : needsToken
              ? session.wasSignedIn
                ? texts.expired
                : texts.noToken
              : texts.title}
        </h1>
        {needsToken ? (
          <>
            <p class="quiet">{isWrong ? texts.wrongTokenHint : texts.noTokenHint}</p>
            <p class="quiet">{texts.again}</p>
            <CopyLine text={texts.command} label={texts.command} />
          </>
        ) : (
          <p class="quiet">{texts.lead}</p>
        )}
        <form onSubmit={submit}>
          {needsToken && (
            <TextField label={texts.tokenLabel} value={token} onInput={setToken} isSecret isMono maxLength={200} />
          )}
          <TextField
            label={texts.name}
            value={name}
            onInput={setName}
            maxLength={80}
            autoComplete="name"
            hint={needsToken ? texts.lead : undefined}
            problem={session.error && !isWrong ? `${session.error.message} ${session.error.hint}` : undefined}
          />
          <Button kind="primary" type="submit" isBusy={busy !== undefined} isDisabled={!token.trim() || !name.trim()}>
            {texts.button}
          </Button>
        </form>
      </div>
    </main>
  );
}
