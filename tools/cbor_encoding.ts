import type { Encoding } from '../kits/typescript/src/device_client.js';
import { decodeCbor, encodeCbor } from '../src/engine/wire/cbor.js';

/** For devices that speak CBOR. */
export const CBOR_ENCODING: Encoding = {
  media_type: 'application/cbor',
  encode: encodeCbor,
  decode(bytes) {
    const decoded = decodeCbor(bytes);
    if (!decoded.ok) throw new Error(`the server's CBOR is not valid: ${decoded.message}`);
    return decoded.value;
  },
};
