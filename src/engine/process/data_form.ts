import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The form in which all of a server's data is stored. A data folder and a Redis say which one they have, and no other is
 * opened. Changes that releases read from each other need no other form (docs/upgrading.md).
 */
export const DATA_FORM = '1';
/** The last commit that opens what was stored before there were forms. */
const LAST_COMMIT_BEFORE = 'e82797d6';

/** In a data folder, holds its form. */
export const FORM_FILE = 'form';
/** Whether Redis has ever run in a data folder. */
const REDIS_DATA = join('redis', 'appendonlydir');

/** Data before it is opened. `form`: as it says itself, null where it says none. */
type FoundData = { form: string | null; is_empty: boolean };

/** Why data can not be opened, as a sentence; null where it can. */
export function formProblem(where: string, { form, is_empty }: FoundData): string | null {
  if (form === DATA_FORM || (form === null && is_empty)) return null;
  return form === null
    ? `${where} holds data from before version 1.0, which only commits up to ${LAST_COMMIT_BEFORE} open.`
    : `${where} holds data of form ${form}, and this version opens form ${DATA_FORM} alone.`;
}

/** Looks at a data folder and changes nothing in it. */
export async function folderProblem(folder: string): Promise<string | null> {
  const form = await readFile(join(folder, FORM_FILE), 'utf8').then((text) => text.trim(), absent);
  const redis_data = await stat(join(folder, REDIS_DATA)).catch(absent);
  return formProblem(folder, { form, is_empty: redis_data === null });
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
