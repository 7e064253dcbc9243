import { render } from "preact";
import { App } from "./app.tsx";
import { startKeys } from "./data/keys.ts";
import { setPagePaths } from "./data/page_paths.ts";
import { startPreferences } from "./data/preferences.ts";
import { startRouter } from "./data/router.ts";
import { startSession } from "./data/session.ts";
import { PAGES } from "./pages.tsx";
import { startMarkQueue } from "./review/mark_queue.ts";
import "./trusted_types.ts";

startPreferences();
setPagePaths(PAGES.map((page) => page.path));
startRouter();
startKeys();
startMarkQueue();
void startSession();
const root = document.getElementById("app");
if (root) render(<App />, root);
