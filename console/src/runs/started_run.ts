import { ApiError } from "../data/api_error.ts";
import type { EndedRun, StartedRun } from "../data/api_types.ts";

/** Return the error of a run that could not begin, or undefined if it has begun. */
export function readRefusal(reply: StartedRun | EndedRun): ApiError | undefined {
  if (!("success" in reply) || reply.success || !reply.error || reply.run_id) return undefined;
  return new ApiError(reply.error.message, reply.error.hint ?? "", reply.error.code, 422);
}
