import { useComputed } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorState, LoadingState } from "./common/states.tsx";
import { commonTexts } from "./common/strings.ts";
import { Toasts } from "./common/toasts.tsx";
import { useKeys } from "./data/keys.ts";
import { connection } from "./data/live.ts";
import { navigate, path } from "./data/router.ts";
import { session } from "./data/session.ts";
import { ErrorBoundary } from "./frame/error_boundary.tsx";
import { KeyHelp } from "./frame/key_help.tsx";
import { Navigation, TopBar } from "./frame/navigation.tsx";
import { Palette } from "./frame/palette.tsx";
import { findAnything, listPaletteEntries, PALETTE_KEY } from "./frame/palette_commands.ts";
import { SignInPage } from "./frame/sign_in_page.tsx";
import { frameTexts } from "./frame/strings.ts";
import { waiting } from "./inbox/waiting_list.ts";
import { findPage, NAVIGATION } from "./pages.tsx";

export function App() {
  const person = session.value;
  if (DEVELOPMENT && path.value === "/styleguide") return <PageView />;
  switch (person.state) {
    case "checking":
      return <LoadingState />;
    case "offline":
      return (
        <main class="sign-in">
          <ErrorState error={person.error} />
        </main>
      );
    case "signedOut":
      return <SignInPage session={person} key={person.error?.code} />;
    case "signedIn":
      return <Shell />;
  }
}

function Shell() {
  useEffect(() => waiting.first.start(), []);
  const [overlay, setOverlay] = useState<"palette" | "keys" | undefined>();
  const close = () => setOverlay(undefined);
  useKeys(commonTexts.keys.everywhere, [
    { keys: PALETTE_KEY, label: commonTexts.keys.palette, run: () => setOverlay("palette") },
    { keys: "?", label: commonTexts.keys.help, run: () => setOverlay("keys") },
    ...NAVIGATION.map((entry) => ({
      keys: `g ${entry.key}`,
      label: commonTexts.keys.goTo(entry.label),
      run: () => navigate(entry.href),
    })),
  ]);
  return (
    <div class="shell">
      <a class="skip-link" href="#main">
        {commonTexts.navigation.skip}
      </a>
      <TopBar onPalette={() => setOverlay("palette")} />
      <Navigation onKeys={() => setOverlay("keys")} />
      <PageView />
      <Toasts />
      {overlay === "palette" && <Palette entries={listPaletteEntries()} find={findAnything} onClose={close} />}
      {overlay === "keys" && <KeyHelp onClose={close} />}
    </div>
  );
}

function PageView() {
  const found = useComputed(() => findPage(path.value)).value;
  const main = useRef<HTMLElement>(null);
  const last = useRef(found.page.component);
  useEffect(() => {
    document.title = `${found.page.title} · ${commonTexts.product}`;
    if (last.current !== found.page.component) main.current?.focus();
    last.current = found.page.component;
  }, [found.page]);
  const Page = found.page.component;
  return (
    <main id="main" class="main" ref={main} tabIndex={-1}>
      {connection.value === "reconnecting" && (
        <p class="note maybe" role="status">
          {frameTexts.connection.lost}
        </p>
      )}
      <ErrorBoundary key={found.page.title} path={path.value}>
        <Page params={found.params} />
      </ErrorBoundary>
    </main>
  );
}
