import { defineConfig } from "vite";

/** The address of the API while `npm run dev` serves the pages. */
const API = process.env.URANIBORG_URL ?? "http://127.0.0.1:8420";

export default defineConfig(({ mode }) => ({
  define: { DEVELOPMENT: JSON.stringify(mode === "development") },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    assetsInlineLimit: 0, // the Content-Security-Policy allows no data: fonts or scripts
    modulePreload: { polyfill: false },
    license: { fileName: "third-party-notices.md" },
    reportCompressedSize: false,
    rolldownOptions: {
      input: ["index.html", "src/graph/graph_worker.ts"],
      output: {
        // The policy of Trusted Types knows the address of the worker: it has no hash.
        entryFileNames: ({ name }) => (name === "graph_worker" ? "assets/graph_worker.js" : "assets/[name]-[hash].js"),
      },
    },
  },
  server: { proxy: { "/api": { target: API, changeOrigin: true, headers: { origin: API } } } },
  test: {
    environment: "jsdom",
    include: ["tests/**/*.test.{ts,tsx}"],
    setupFiles: ["tests/setup.ts"],
    restoreMocks: true,
    isolate: false, // one environment for all files: making it takes longer than the tests
    fileParallelism: false,
  },
}));
