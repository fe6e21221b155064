import type { AppClient } from '../fixtures/app_client.js';
import type { TestEndpoint } from '../fixtures/endpoints.js';

/** An account whose events an endpoint gets, each of them. */
export type Witness = { email: string; app: () => AppClient; endpoint: TestEndpoint; path: string; cursor: string };
