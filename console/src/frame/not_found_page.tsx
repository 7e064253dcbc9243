import { ButtonLink } from "../common/controls.tsx";
import { PlainPage } from "../common/layout.tsx";
import { commonTexts } from "../common/strings.ts";

export function NotFoundPage() {
  return (
    <PlainPage title={commonTexts.errors.notFound}>
      <p class="quiet">{commonTexts.errors.notFoundHint}</p>
      <ButtonLink href="/">{commonTexts.errors.toHome}</ButtonLink>
    </PlainPage>
  );
}
