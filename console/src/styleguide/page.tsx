import { PlainPage } from "../components/layout.tsx";

/** Every component in every state; only in development builds. */
export function StyleguidePage() {
  return <PlainPage title="Style guide">{null}</PlainPage>;
}
