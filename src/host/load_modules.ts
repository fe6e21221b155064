/**
 * Loads the larger parts of a server one after the other. The files of all of them at once would be more than a process
 * that may have 200 files open can load.
 */
export async function loadModules(): Promise<void> {
  await import('zod');
  await import('../../actors/index.js');
  await import('../edge/http/listener.js');
  await import('../../routes/index.js');
}
