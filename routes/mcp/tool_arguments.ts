import { listCursor } from '../../src/access/cursors.js';
import { timestamp, uuid, whole } from '../../src/access/request_schemas.js';
import { LIMITS } from '../../src/domain/limits.js';

/** Arguments that several tools take. */

export const limit = whole({ min: 1, max: LIMITS.list_limit_max })
  .default(LIMITS.list_limit_default)
  .meta({ type: 'integer', minimum: 1, maximum: LIMITS.list_limit_max });
/** Without a description: the instructions of the server say what it is for, once for all tools. */
export const cursor = listCursor.meta({ description: undefined });
export const paging = { limit, cursor };

export const from = timestamp.optional();
export const to = timestamp.optional();
export const workspace_id = uuid.optional();

/** For examples. */
export const EXAMPLE_ID = '0198f3a2-5c1e-7b60-8d3f-2a4b80000101';
