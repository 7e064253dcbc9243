import { ButtonLink } from "../components/controls.tsx";
import { PlainPage } from "../components/layout.tsx";
import { strings } from "../strings.ts";

export function NotFoundPage() {
  return (
    <PlainPage title={strings.errors.notFound}>
      <p class="quiet">{strings.errors.notFoundHint}</p>
      <ButtonLink href="/inbox">{strings.errors.toInbox}</ButtonLink>
    </PlainPage>
  );
}
