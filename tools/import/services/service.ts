/** A service that keeps what somebody has said, and lets them fetch it with a key of theirs. */
export type ImportService = {
  name: ServiceName;
  /** As people call it. */
  title: string;
  /** Where its key and another address stand in the environment. */
  key_env: string;
  url_env: string;
  url: string;
  /** Asks for the page that begins at a cursor; null for the first. */
  page(ask: AskService, cursor: string | null): Promise<ServicePage>;
};

export const SERVICE_NAMES = ['limitless', 'omi', 'fireflies'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** A request below the address of the service; the JSON that it answers. */
export type AskService = (request: {
  path: string;
  headers: (key: string) => Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
}) => Promise<unknown>;

/** `cursor`: of the next page; null at the end. */
export type ServicePage = { items: ServiceItem[]; cursor: string | null };

/** A conversation: its transcript in a form that Spool reads; null where nobody speaks in it. */
export type ServiceItem = { id: string; title: string; transcript: object | null };
