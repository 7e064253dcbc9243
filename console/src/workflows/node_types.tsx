import { useState } from "preact/hooks";
import { Button } from "../common/controls.tsx";
import { Loaded } from "../common/states.tsx";
import { api } from "../data/api.ts";
import type { NodeType } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { workflowTexts as texts } from "./strings.ts";

/** The types of nodes with their parameters and outputs, to read and to insert into the text of a workflow. */
export function NodeTypes({ onInsert }: { onInsert: (text: string) => void }) {
  const [words, setWords] = useState("");
  const found = useResource(
    `node types ${words}`,
    (signal) => api.get("/api/components", { query: { query: words, in_full: true }, signal }),
    () => false,
    "node types",
  );
  return (
    <section class="node-types" aria-labelledby="node-types">
      <h2 id="node-types">{texts.nodeTypes}</h2>
      <input
        type="search"
        aria-label={texts.findNodeType}
        placeholder={texts.findNodeType}
        maxLength={100}
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      <Loaded resource={found}>
        {({ nodes, total }) =>
          nodes.length ? (
            <ul aria-label={texts.nodeTypes}>
              {nodes.map((node) => (
                <li key={node.type}>
                  <details>
                    <summary>
                      <code>{node.type}</code>
                    </summary>
                    <p class="small">{node.description}</p>
                    <ul class="small">
                      {node.inputs.map((input) => (
                        <li key={input.key}>
                          <code>{input.key}</code> {texts.typeHint(input.type, input.required ?? false)}.{" "}
                          {input.description}
                        </li>
                      ))}
                    </ul>
                    {node.outputs.length > 0 && (
                      <p class="small quiet">
                        {texts.nodeOutputs(node.outputs.map((output) => output.key).join(", "))}
                      </p>
                    )}
                    <Button
                      icon="plus"
                      label={`${texts.insertNode}: ${node.type}`}
                      onClick={() => onInsert(formatNode(node))}
                    >
                      {texts.insertNode}
                    </Button>
                  </details>
                </li>
              ))}
              {total > nodes.length && <li class="quiet small">{texts.moreNodeTypes(total - nodes.length)}</li>}
            </ul>
          ) : (
            <p class="quiet small">{texts.noNodeTypes}</p>
          )
        }
      </Loaded>
    </section>
  );
}

/** Return a node of a type as JSON, with the parameters of its example. */
function formatNode(node: NodeType): string {
  return JSON.stringify({ id: node.type, type: node.type, params: node.example ?? {} });
}
