import { render } from "preact";
import { App } from "./app.tsx";
import { startKeys } from "./keys.ts";
import { setPagePaths } from "./page_paths.ts";
import { PAGES } from "./pages.tsx";
import { startPreferences } from "./preferences.ts";
import { startRouter } from "./router.ts";
import { startSession } from "./session.ts";
import { startMarkQueue } from "./stores/mark_queue.ts";
import "./trusted_types.ts";

startPreferences();
setPagePaths(PAGES.map((page) => page.path));
startRouter();
startKeys();
startMarkQueue();
void startSession();
const root = document.getElementById("app");
if (root) render(<App />, root);
