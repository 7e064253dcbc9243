import { commonTexts } from "../common/strings.ts";

/** An error of the API, or of the connection to it: what happened, what to do, and a stable code. */
export class ApiError extends Error {
  readonly code: string;
  readonly hint: string;
  readonly status: number;
  /** Further facts of the error, such as who decided first. */
  readonly facts: Readonly<Record<string, unknown>>;

  constructor(message: string, hint: string, code: string, status: number, facts: Record<string, unknown> = {}) {
    super(message);
    this.name = "ApiError";
    this.hint = hint;
    this.code = code;
    this.status = status;
    this.facts = facts;
  }

  /** True if the request may succeed later without a change: the server is away or busy. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export function makeOfflineError(): ApiError {
  return new ApiError(commonTexts.errors.offline, commonTexts.errors.offlineHint, "offline", 0);
}

/** Return any thrown value as an ApiError. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new ApiError(commonTexts.errors.unexpected, text, "unexpected", -1);
}

/** Return the hint of an error for a page: hints of the server may name tools of agents, commands and files. */
function fitHint(code: string, hint: string): string {
  return commonTexts.errors.hints[code] ?? (hint.includes("openapi.json") ? commonTexts.errors.argumentHint : hint);
}

/** Return the error of a response that is not OK, with texts that fit a page. */
export async function readErrorResponse(response: Response): Promise<ApiError> {
  try {
    const { error } = (await response.json()) as { error: Record<string, unknown> };
    const { code, message, hint, ...facts } = error;
    return new ApiError(
      commonTexts.errors.messages[String(code)] ?? String(message),
      fitHint(String(code), String(hint ?? "")),
      String(code),
      response.status,
      facts,
    );
  } catch {
    return new ApiError(
      commonTexts.errors.unexpected,
      commonTexts.errors.retryHint,
      `http_${response.status}`,
      response.status,
    );
  }
}
