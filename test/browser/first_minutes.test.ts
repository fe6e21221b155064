import t from 'tap';
import { looksWell } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { firstMinutes, HEARING, speakingMicrophone } from '../fixtures/first_minutes.js';
import { NO_MODEL } from '../fixtures/speech.js';

/** A new server, a person with a browser, and nothing else: what they say is found again. */

const CLICKS_MAX = 10;

if (NO_MODEL) t.plan(0, NO_MODEL);
else {
  const browsing = await Browsing.start(t, HEARING, { flags: await speakingMicrophone(t) });
  await browsing.walk(t, 'what was said is found by a question, within ten clicks', async (t, visitor) => {
    const seen: string[] = [];
    const clicks = await firstMinutes(browsing, visitor, async (name, page) => {
      seen.push(name);
      if (name === 'answer') await looksWell(t, page, name);
    });
    t.same(seen, ['welcome', 'code', 'inbox', 'recordings', 'recording', 'text', 'answer', 'found']);
    t.ok(clicks <= CLICKS_MAX, `${clicks} clicks`);
  });
}
