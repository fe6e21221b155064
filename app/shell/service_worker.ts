/** The registration of the service worker (app/worker/service_worker.ts). */

const PATH = '/app/worker.js';
const SCOPE = '/app';

let registering: Promise<ServiceWorkerContainer | null> | null = null;

/** The browser's container of workers once ours is registered; null where there are none, or it could not be. */
export function serviceWorkers(): Promise<ServiceWorkerContainer | null> {
  registering ??= register().catch(() => null);
  return registering;
}

async function register(): Promise<ServiceWorkerContainer | null> {
  const container = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  if (container === undefined) return null;
  await container.register(PATH, { scope: SCOPE });
  return container;
}
