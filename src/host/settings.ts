import { resolve } from 'node:path';
import type { z } from 'zod';
import { transcriberOf } from '../features/transcripts/engines/choose_engine.js';
import type { SettingRow, Shown } from './setting_forms.js';
import { EXCLUDE, GO_WITH, type SettingName, variables } from './setting_rows.js';

type Parsed = { [N in SettingName as Lowercase<N>]: z.output<(typeof variables)[N]['schema']> };

/**
 * The settings, one field a variable, in lower case. Folders and files are absolute paths. `null` means: not set, and
 * the default is no value of the same kind (see `default_text` of `describeSettings`).
 */
export type Settings = Readonly<
  Omit<Parsed, 'device_host' | 'keys_dir' | 'first_party_clients' | 'webhook_block_private' | 'transcribe_window_s'> & {
    device_host: string;
    webhook_block_private: boolean;
    transcribe_window_s: number;
    keys_dir: string;
    first_party_clients: string;
    /** The folder of the model for English beside the one in use. The start adds it by what is installed. */
    transcribe_english_dir?: string | null;
  }
>;

/** One or more variables are wrong. The message has a line for each; secrets are not in it. */
export class WrongSettings extends Error {
  override readonly name = 'WrongSettings';

  constructor(readonly lines: readonly string[]) {
    super(
      `${lines.length === 1 ? 'A setting is' : 'Settings are'} wrong:\n${lines.map((line) => `  ${line}`).join('\n')}`,
    );
  }
}

/**
 * A password stands before the last @ or, as a parameter, after the first ?. Both are cut without parsing, since the
 * values shown here are the ones that may not parse.
 */
const maskAddress = (value: string) =>
  value.replace(/^([a-z][a-z0-9+.-]*:\/*)?.*@/is, '$1***@').replace(/\?.*$/s, '?***');

const showValue = (value: string, shown: Shown) => {
  if (shown === 'nothing') return '(value not shown)';
  const visible = shown === 'address' ? maskAddress(value) : value;
  return JSON.stringify(visible.length > 100 ? `${visible.slice(0, 100)}…` : visible);
};

/**
 * Reads all settings from `env`, which is usually `process.env`. Empty counts as unset, unknown variables are ignored.
 * Throws `WrongSettings`, which names every wrong variable, not just the first.
 */
export const readSettings = (env: Readonly<Record<string, string | undefined>>): Settings => {
  const wrong: string[] = [];
  const parsed: Record<string, unknown> = {};
  for (const [name, { schema, shown }] of Object.entries<SettingRow<z.ZodType>>(variables)) {
    const value = env[name]?.trim() || undefined;
    const result = schema.safeParse(value);
    if (result.success) parsed[name.toLowerCase()] = result.data;
    else wrong.push(`${name}=${showValue(value ?? '', shown)}: ${result.error.issues[0]?.message ?? 'is wrong'}`);
  }
  const isSet = (name: SettingName) => Boolean(env[name]?.trim());
  for (const [name, needed] of GO_WITH) {
    if (isSet(name) && !isSet(needed)) wrong.push(`${needed}: must be set when ${name} is`);
  }
  for (const [name, other] of EXCLUDE) {
    if (isSet(name) && isSet(other)) wrong.push(`${other}: must not be set when ${name} is`);
  }
  if (isSet('WORKER_TOKEN') && env.WORKER_TOKEN?.trim() === env.OPS_TOKEN?.trim())
    wrong.push('WORKER_TOKEN: must not be the token in OPS_TOKEN');
  if (wrong.length > 0) throw new WrongSettings(wrong);

  const found = parsed as Parsed;
  const data_dir = resolve(found.data_dir);
  return deepFreeze({
    ...found,
    data_dir,
    device_host: found.device_host ?? found.host,
    keys_dir: resolve(found.keys_dir ?? `${data_dir}/keys`),
    transcribe_model_dir: found.transcribe_model_dir === null ? null : resolve(found.transcribe_model_dir),
    transcribe_speakers_dir: found.transcribe_speakers_dir === null ? null : resolve(found.transcribe_speakers_dir),
    transcribe_window_s: found.transcribe_window_s ?? (transcriberOf(found).by === 'built_in' ? 15 : 60),
    webhook_block_private: found.webhook_block_private ?? !isLocal(found.base_url),
    webhook_ca_file: found.webhook_ca_file === null ? null : resolve(found.webhook_ca_file),
    redis_password_file: found.redis_password_file === null ? null : resolve(found.redis_password_file),
    engines_file: found.engines_file === null ? null : resolve(found.engines_file),
    first_party_clients: resolve(found.first_party_clients ?? `${data_dir}/first_party_clients.json`),
  });
};

const deepFreeze = <Shape extends object>(shape: Shape): Shape => {
  for (const value of Object.values(shape)) if (Array.isArray(value)) Object.freeze(value);
  return Object.freeze(shape);
};

/**
 * The public addresses, with the defaults that depend on the port: `listening_port` is the one PORT=0 ended up with.
 * No address ends in a slash, unless RESTORE_URL was set so.
 */
export const publicAddresses = (
  settings: Pick<Settings, 'base_url' | 'restore_url' | 'legacy_base_url'>,
  listening_port: number,
): { base_url: string; legacy_base_url: string | null; restore_url: string } => {
  const base_url = settings.base_url ?? `http://localhost:${listening_port}`;
  return {
    base_url,
    legacy_base_url: settings.legacy_base_url,
    restore_url: settings.restore_url ?? `${base_url}/restore`,
  };
};

/** The address of the operator port for a browser on this machine. */
export const operatorUrl = ({ ops_host }: Pick<Settings, 'ops_host'>, listening_port: number): string =>
  `http://${ops_host}:${listening_port}`;

/** The addresses that the start page names in development; null if other machines call the server. */
export const developmentAddresses = (
  settings: Pick<Settings, 'base_url' | 'ops_host' | 'smtp_url'>,
  operator_port: number,
): { operators_url: string; inbox_url: string | null } | null => {
  if (!isLocal(settings.base_url)) return null;
  const operators_url = operatorUrl(settings, operator_port);
  return { operators_url, inbox_url: settings.smtp_url === null ? `${operators_url}/mails` : null };
};

/** Whether callers know the server by an address of their own machine. Where it listens says less: a proxy may stand before it. */
const isLocal = (base_url: string | null): boolean =>
  base_url === null || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(base_url).hostname);

/** Every variable with its default and meaning in words, in the order to print them. */
export const describeSettings = (): { name: string; default_text: string; meaning: string }[] =>
  Object.entries(variables).map(([name, { default_text, meaning }]) => ({ name, default_text, meaning }));
