/** The only script that a worker of the console may run. */
export const WORKER_ADDRESS = import.meta.env.DEV ? "/src/graph/graph_worker.ts" : "/assets/graph_worker.js";

interface PolicyFactory {
  createPolicy(
    name: string,
    rules: { createScriptURL(address: string): string },
  ): {
    createScriptURL(address: string): unknown;
  };
}

const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes;

/** Return the address if it is the one of the worker. Throw TypeError for every other one. */
export function checkWorkerAddress(address: string): string {
  if (address === WORKER_ADDRESS) return address;
  throw new TypeError(`A worker may only run ${WORKER_ADDRESS}.`);
}

// The Content-Security-Policy allows one policy of this name, and a second one with it is refused.
const policy = factory?.createPolicy("uraniborg", { createScriptURL: checkWorkerAddress });

/** Return an address that `new Worker` accepts. Throw TypeError unless it is that of the worker. */
export function makeWorkerAddress(address: string): string {
  return (policy ? policy.createScriptURL(address) : checkWorkerAddress(address)) as string;
}
