/** A refusal in the server's words, or that it could not be reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** The first field that was wrong; null where none was. */
  readonly field: string | null;

  constructor(
    /** As the reference names it; NETWORK where no answer came. */
    readonly code: string,
    message: string,
    /** Wrong fields by their path. */
    readonly fields: ReadonlyMap<string, string> = new Map(),
    readonly retry_after_s: number | null = null,
    /** Further members of `error`, such as `erase_at`. */
    readonly extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.field = [...fields.keys()][0] ?? null;
  }
}
