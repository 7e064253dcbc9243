import { render } from "preact";
import { App } from "./app.tsx";
import { startKeys } from "./data/keys.ts";
import { startPreferences } from "./data/preferences.ts";
import { startRouter } from "./data/router.ts";
import { startSession } from "./data/session.ts";
import { startMarkQueue } from "./review/mark_queue.ts";
import "./trusted_types.ts";

startPreferences();
startRouter();
startKeys();
startMarkQueue();
void startSession();
const root = document.getElementById("app");
if (root) render(<App />, root);
