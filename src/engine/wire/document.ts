/** Bounds every request body of a device keeps, in JSON and in CBOR alike. */
export const DOCUMENT_LIMITS = {
  depth_max: 16,
  /** Values and keys together. */
  items_max: 20_000,
};

/** Why a body was not taken. `path` names the place, as in `chunks.3.sequence`; absent for the body as a whole. */
export type DocumentRefusal = { ok: false; path?: string; message: string };

/** A container the scan is inside of. */
export type OpenContainer = {
  is_map: boolean;
  keys: Set<string>;
  key: string | undefined;
  index: number;
  /** Keys and values still to come, where the container says so ahead of them. */
  heads_left: number;
  /** It does not say: a break ends it. */
  is_indefinite: boolean;
};

const PATH_KEY_CHARACTERS_MAX = 64;

const NO_KEYS = new Set<string>();

const PROTO_KEY = '__proto__';

export function openContainer({
  is_map,
  heads_left,
  is_indefinite = false,
}: {
  is_map: boolean;
  heads_left: number;
  is_indefinite?: boolean;
}): OpenContainer {
  return { is_map, keys: is_map ? new Set() : NO_KEYS, key: undefined, index: 0, heads_left, is_indefinite };
}

/** Notes the key of a map's next entry; returns what is wrong with it, if anything. */
export function enterKey(map: OpenContainer, key: string): string | undefined {
  map.key = key;
  if (key === PROTO_KEY) return 'the key __proto__ is not allowed';
  const seen = map.keys.size;
  map.keys.add(key);
  return map.keys.size === seen ? 'the key occurs twice' : undefined;
}

/** Notes that an entry of a container is over. */
export function leaveEntry(container: OpenContainer): void {
  container.index += 1;
  container.key = undefined;
}

/** A refusal at the place the open containers stand at. `spell` makes text of a key. */
export function refuseAt(
  open: readonly OpenContainer[],
  message: string,
  spell = (key: string) => key,
): DocumentRefusal {
  const steps = open.map((container) => readStep(container, spell)).filter((step) => step !== undefined);
  return steps.length === 0 ? { ok: false, message } : { ok: false, path: steps.join('.'), message };
}

/** Undefined between two entries of a map, where no key has been read yet. */
function readStep(container: OpenContainer, spell: (key: string) => string): string | undefined {
  if (!container.is_map) return String(container.index);
  if (container.key === undefined) return undefined;
  const key = spell(container.key);
  return key.length > PATH_KEY_CHARACTERS_MAX ? `${key.slice(0, PATH_KEY_CHARACTERS_MAX)}…` : key;
}
