/* `npm run spool -- icons`: draws the icons for home screens anew, beside the drawing that they are made of. */
import { writeIcons } from './icons/draw.mjs';
import { readCommandLine } from './setup/command_line.mjs';

readCommandLine({
  form: 'npm run spool -- icons',
  says: 'Draws the icons of the app in src/edge/pages/files/ anew from spool.svg.',
});
writeIcons();
