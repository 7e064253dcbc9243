// Use an MCP server with the official TypeScript client, and print what the client sees as JSON.
// Usage: node use_server.mjs MODE URL, or node use_server.mjs MODE COMMAND ARGUMENT…; MODE is auto, legacy or a version.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, target, ...args] = process.argv.slice(2);
const client = new Client(
  { name: "use-server", version: "1" },
  { versionNegotiation: { mode: ["auto", "legacy"].includes(mode) ? mode : { pin: mode } } },
);
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args, env: process.env });
await client.connect(transport);
const { tools } = await client.listTools();
const { resources } = await client.listResources();
const capabilities = client.getServerCapabilities();
const prompts = capabilities.prompts ? (await client.listPrompts()).prompts : [];
const read = await client.readResource({ uri: resources[0].uri });
const readOnly = tools.find((tool) => tool.annotations?.readOnlyHint && !tool.inputSchema.required?.length);
const facets = tools.find((tool) => tool.name === "list_top_facets");
const called = facets
  ? await client.callTool({ name: facets.name, arguments: { category: "author" } })
  : readOnly && (await client.callTool({ name: readOnly.name, arguments: {} }));
const missing = await client.readResource({ uri: "none://nowhere/Ü" }).catch((error) => error.code);
console.log(
  JSON.stringify({
    version: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    tools: tools.map((tool) => tool.name),
    prompts: prompts.map((prompt) => prompt.name),
    text: read.contents[0].text,
    called: called?.content[0].text,
    missing,
  }),
);
await client.close();
