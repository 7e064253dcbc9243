import { defineConfig, loadEnv, type Plugin } from "vite";

/** The address of the API while `npm run dev` serves the pages. */
const API = loadEnv("", false, "URANIBORG_").URANIBORG_URL ?? "http://127.0.0.1:8420";
const NOTICES = "third-party-notices.md";
const STIX = "@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2";
const UTF_8 = { encoding: "utf8" } as const;

/** Append the licence of each font to the notices. Vite lists packages of scripts only. */
function noteFonts(): Plugin {
  return {
    name: "note-fonts",
    async writeBundle({ dir }, bundle) {
      for (const font of Object.values(bundle).filter(({ fileName }) => fileName.endsWith(".woff2"))) {
        const source = font.type === "asset" ? font.originalFileNames[0] : undefined;
        const folder = source && /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(source)?.[0];
        if (!folder) this.error(`The font ${font.fileName} is not of a package, so its licence is unknown.`);
        const { name, version, license } = JSON.parse(await this.fs.readFile(`${folder}/package.json`, UTF_8));
        const text = (await this.fs.readFile(`${folder}/LICENSE`, UTF_8)).trim();
        const notice = `\n## ${name} - ${version} (${license}): the font ${font.fileName}\n\n${text}\n`;
        await this.fs.appendFile(`${dir}/${NOTICES}`, notice);
      }
    },
  };
}

export default defineConfig(({ mode }) => ({
  define: { DEVELOPMENT: JSON.stringify(mode === "development") },
  plugins: [noteFonts()],
  resolve: { alias: { "./STIXTwoMath.woff2": STIX } }, // named by the style sheet of Temml, and not in its package
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2023",
    assetsInlineLimit: 0, // the Content-Security-Policy allows no data: fonts or scripts
    modulePreload: { polyfill: false },
    license: { fileName: NOTICES },
    reportCompressedSize: false,
    rolldownOptions: {
      input: ["index.html", "src/runs/graph_worker.ts"],
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
    css: { include: /tokens/ }, // a test reads the colours
    isolate: false, // one environment for all files: making it takes longer than the tests
    fileParallelism: false,
  },
}));
