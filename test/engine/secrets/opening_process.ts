/** Opens the server keys of the folder named first and tells its parent what it found. */
import { openServerKeys } from '../../../src/engine/secrets/server_keys.js';

const keys = await openServerKeys(process.argv[2] as string);
process.send?.({ opened: `${keys.fingerprint()} ${keys.currentKeyId()}` });
