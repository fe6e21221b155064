import { readFileSync } from 'node:fs';
import t from 'tap';
import { describeSettings } from '../src/settings.js';

t.test('the README lists every setting as the server knows it', async (t) => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8').replaceAll(/ +/g, ' ');
  for (const { name, default_text, meaning } of describeSettings()) {
    t.ok(readme.includes(`| \`${name}\` | ${default_text} | ${meaning} |`), name);
  }
});
