import { z } from 'zod';
import { AUTH_METHODS } from '../../../access/oauth_client.js';
import { LIMITS } from '../../../domain/limits.js';
import { ImmutableRecords, type ImmutableRecordsRedis } from '../../../engine/store/immutable_records.js';

/** A list as one JSON text. */
const listText = z.string().transform((text, context) => {
  const list = z.array(z.string()).safeParse(JSON.parse(text));
  if (!list.success) context.addIssue({ code: 'custom', message: 'must be a list of texts' });
  return list.data ?? [];
});

const record = z.object({
  client_id: z.string(),
  name: z.string(),
  redirect_uris: listText,
  scopes: listText,
  default_scopes: listText,
  token_endpoint_auth_method: z.enum(AUTH_METHODS),
});

/** The fixed fields of a third-party client, under its id. Its secrets, use and end are the client actor's. */
export type RegisteredClient = z.infer<typeof record>;

/** Longer than the time after which an unused client ends: a client must never outlive its record. */
const RECORD_LIFE_MS = LIMITS.client_unused_life_ms + 30 * 24 * 60 * 60_000;

/** Registrations of third-party clients. */
export class RegisteredClients {
  readonly #records: ImmutableRecords<RegisteredClient>;

  constructor(redis: ImmutableRecordsRedis) {
    this.#records = new ImmutableRecords<RegisteredClient>(redis, {
      name: 'client',
      fields: {
        client_id: 'string',
        name: 'string',
        redirect_uris: 'string',
        scopes: 'string',
        default_scopes: 'string',
        token_endpoint_auth_method: 'string',
      },
      write: ({ redirect_uris, scopes, default_scopes, ...plain }) => ({
        ...plain,
        redirect_uris: JSON.stringify(redirect_uris),
        scopes: JSON.stringify(scopes),
        default_scopes: JSON.stringify(default_scopes),
      }),
      read: (fields) => record.safeParse(fields).data ?? null,
    });
  }

  /**
   * `kept`: staff made the client and only staff end it. Others' records may be dropped after a long time without use.
   */
  async save(client: RegisteredClient, { kept }: { kept: boolean }): Promise<void> {
    await this.#records.save(client.client_id, client, kept ? undefined : RECORD_LIFE_MS);
  }

  find(client_id: string): Promise<RegisteredClient | null> {
    return this.#records.find(client_id);
  }

  /** Called before the use is recorded, so that the record outlives the client. */
  async renew(client_id: string): Promise<void> {
    await this.#records.dropAfter(client_id, RECORD_LIFE_MS);
  }
}
