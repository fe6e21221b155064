/** The person at the terminal can set this right, and the message says how. Anything else that is thrown is a bug. */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly exit_code: number;

  constructor(message: string, { exit_code = 1 }: { exit_code?: number } = {}) {
    super(message);
    this.exit_code = exit_code;
  }
}

/** For what was typed, or set in the environment, and can't be run as it is. */
export const WRONG_USAGE = { exit_code: 2 };
