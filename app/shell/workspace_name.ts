import type { Workspace } from '../../kits/typescript/src/api.js';
import { type PlainText, say } from '../language/say.js';

/** The name that the server gives to a private workspace: it is stored in English. */
const FIRST_NAME: PlainText = 'Private';

/** The name of a workspace as it is shown: the first name of a private one is in the language of the app. */
export function workspaceName({ name, private: is_private }: Pick<Workspace, 'name' | 'private'>): string {
  return is_private && name === FIRST_NAME ? say(FIRST_NAME) : name;
}
