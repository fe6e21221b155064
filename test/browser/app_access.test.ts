import type { Page } from 'playwright-core';
import t from 'tap';
import { TestAccount } from '../fixtures/account.js';
import { appUrl, enterApp, looksWell, settled } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { makeInsights } from '../fixtures/insights.js';
import { said, TestRecording, TestTranscriber } from '../fixtures/transcribing.js';

/** The main pages of the app with text of twice the size, by keyboard alone, and as a screen reader goes through them. */

const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
const { spool } = browsing;
const PATHS = [
  ...[
    '/recordings',
    '/search?q=roses',
    '/insights',
    '/people',
    '/today',
    '/devices',
    '/workspaces',
    '/sessions',
    '/account',
  ],
  ...['/retention', '/connections', '/tokens', '/webhooks', '/export', '/record'],
];
const STOPS_MAX = 200;

/** Runs in the browser: texts that are cut off, and elements that reach out of the page. */
const CUT_OFF = `(() => {
  const width = document.documentElement.clientWidth;
  const shown = [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility({ visibilityProperty: true }));
  const isOut = (element) => {
    const { right, width: own } = element.getBoundingClientRect();
    return own > 1 && right > width + 1 && getComputedStyle(element).position !== 'absolute';
  };
  const isCut = (element) => {
    const style = getComputedStyle(element);
    const hides = style.overflowX === 'hidden' && style.textOverflow !== 'ellipsis';
    return hides && element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1;
  };
  const nameOf = (element) => element.tagName + '.' + element.className + ' ' + element.textContent.trim().slice(0, 40);
  return shown.filter((element) => isOut(element) || isCut(element)).map(nameOf);
})()`;

/** Runs in the browser: where the focus is, as the place in the document's order, and whether it is seen there. */
const FOCUS = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  // A link that fills its row marks the row.
  const marked = [element, element.closest('li')].filter((one) => one !== null);
  const is_marked = marked.some((one) => getComputedStyle(one).outlineStyle !== 'none');
  const { width, height } = element.getBoundingClientRect();
  return {
    at: [...document.querySelectorAll('*')].indexOf(element),
    name: (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40),
    tag: element.tagName,
    is_seen: is_marked && width > 0 && height > 0,
  };
})()`;
type Focus = { at: number; name: string; tag: string; is_seen: boolean };

/** Runs in the browser: levels of the headings in their order, and the landmarks. */
const OUTLINE = `({
  levels: [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
    .filter((element) => element.checkVisibility())
    .map(({ tagName }) => Number(tagName[1])),
  landmarks: [...document.querySelectorAll('header, nav, main')].map(({ tagName }) => tagName.toLowerCase()),
  first_heading: document.querySelector('main h1') !== null,
  unnamed: [...document.querySelectorAll('nav, [role=region], dialog')].filter(
    (element) => !element.hasAttribute('aria-label') && !element.hasAttribute('aria-labelledby'),
  ).length,
})`;
type Outline = { levels: number[]; landmarks: string[]; first_heading: boolean; unnamed: number };

/** Somebody with a recording of which something is to do; the paths of the pages that are looked at. */
async function furnished(email: string): Promise<string[]> {
  const account = await TestAccount.open(spool, email);
  const recording = await TestRecording.begin(account, {
    captured_at: new Date(spool.server.services.clock.now()).toISOString(),
  });
  await recording.add(9_000);
  await recording.end();
  const spoken = [
    said('I will water the roses on Friday', [500, 2_500], 'a'),
    said('The spare key is in the safe, behind the extraordinarily long shelf', [3_000, 5_500], 'b'),
  ];
  const worker = new TestTranscriber(spool);
  await worker.publish(await worker.claim(recording.id), spoken);
  const suggestions = [{ text: 'Water the roses', kind: 'task' }];
  await makeInsights(account, recording, { span: [0, 6_000], conversation: { title: 'Garden' }, suggestions });
  return [`/recordings/${recording.id}`, ...PATHS];
}

const open = async (page: Page, path: string) => {
  await page.goto(appUrl(browsing, path));
  await settled(page);
};

await browsing.walk(t, 'the main pages with text of twice the size', async (t, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const paths = await furnished(email);
  await enterApp(browsing, visitor, '/recordings', email);
  for (const path of paths) {
    await page.setViewportSize({ width: 1280, height: 900 });
    await open(page, path);
    await looksWell(t, page, path);
    for (const width of [1280, 640]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate("document.documentElement.style.fontSize = '200%'");
      t.same(await page.evaluate(CUT_OFF), [], `${path}, ${width} px: nothing is cut off or beyond the edge`);
      const is_wide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      t.equal(await page.evaluate(is_wide), false, `${path}, ${width} px: nothing to scroll sideways`);
    }
  }
});

await browsing.walk(
  t,
  'the main pages by keyboard alone, and in the order in which they are read',
  async (t, visitor) => {
    const { page } = visitor;
    const { keyboard } = page;
    const email = browsing.somebody();
    const paths = await furnished(email);
    await enterApp(browsing, visitor, '/recordings', email);
    const focus = async () => (await page.evaluate(FOCUS)) as Focus | null;
    for (const path of paths) {
      await open(page, path);
      const { levels, landmarks, first_heading, unnamed } = (await page.evaluate(OUTLINE)) as Outline;
      t.same(landmarks.slice(0, 3), ['header', 'nav', 'main'], `${path}: navigation, then the page`);
      t.equal(landmarks.filter((name) => name === 'main').length, 1, path);
      t.ok(first_heading, `${path}: the page has its heading`);
      t.equal(unnamed, 0, `${path}: what one can jump to has a name`);
      t.equal(levels[0], 1, `${path}: the first heading is the page's`);
      const jumps = levels.filter((level, index) => level > (levels[index - 1] ?? level) + 1);
      t.same(jumps, [], `${path}: no level of headings is left out`);

      await page.evaluate('document.activeElement?.blur()');
      await keyboard.press('Tab');
      t.equal((await focus())?.name, 'Skip to content', path);
      await keyboard.press('Enter');
      t.equal((await focus())?.tag, 'MAIN', `${path}: past the navigation`);
      await page.evaluate('document.activeElement?.blur()');
      await page.evaluate('getSelection().removeAllRanges()');
      await open(page, path);
      let before = -1;
      const stops: string[] = [];
      for (let stop = 0; stop < STOPS_MAX; stop++) {
        await keyboard.press('Tab');
        const found = await focus();
        if (found === null || found.at === before) break;
        if (found.at < before) break; // round again
        t.ok(found.is_seen, `${path}: ${found.tag} ${found.name} shows that it has the focus`);
        stops.push(found.name);
        before = found.at;
      }
      t.ok(stops.length > 8, `${path}: ${stops.join(' | ')}`);
      t.ok(stops.includes('Sign out'), `${path}: the end of the navigation is reached`);
      const reachable =
        await page.evaluate(`[...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex="0"]')]
      .filter((element) => !element.disabled && element.checkVisibility() && element.tabIndex >= 0).length`);
      const radios = await page.evaluate(`document.querySelectorAll('input[type=radio]:not(:checked)').length`);
      t.ok(
        stops.length >= Number(reachable) - Number(radios),
        `${path}: ${stops.length} of ${reachable} are reached, in the order of the page`,
      );
    }
  },
);
