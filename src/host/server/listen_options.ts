import { CannotStart } from './start.js';

/** A fleet that comes back at once waits in the kernel while the thread is busy; node's 511 would lose some of it. */
export const LISTEN_BACKLOG = 4_096;

/** For the name Fastify would open a second server, on ::1, that nothing of ours limits. */
export function boundAddress(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}

/** Explains a port that could not be opened, with advice for a person. */
export function portProblem(error: NodeJS.ErrnoException, { port, setting }: { port: number; setting: string }): Error {
  if (error.code !== 'EADDRINUSE') return error;
  return new CannotStart(`Port ${port} is in use. Set ${setting} to another, or to 0 for any free one.`);
}
