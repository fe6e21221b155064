import t from 'tap';
import { readEmail } from '../../src/access/typed_email.js';

const PUNY = 'ann@xn--exmple-cua.com';

t.test('A-006 one mailbox has one canonical form, however its address is spelled', async (t) => {
  const rows: [typed: string, canonical: string | null][] = [
    [' Ann@Example.COM ', 'ann@example.com'],
    ['ann+x@example.com', 'ann+x@example.com'],
    ['ann@exämple.com', PUNY],
    ['ann@exa\u0308mple.com', PUNY],
    ['ANN@XN--EXMPLE-CUA.COM', PUNY],
    ['ａｎｎ＠ｅｘａｍｐｌｅ．ｃｏｍ', 'ann@example.com'],
    ['ann@example。com', 'ann@example.com'],
    ['jose\u0301@example.com', 'josé@example.com'],
    ['josé@example.com', 'josé@example.com'],
    ['ﬁn@example.com', 'ﬁn@example.com'],
    ['ann@xn--zzzzzz.com', 'ann@xn--zzzzzz.com'],
    ['ann@é..com', null],
    ['ann@é.com/x', null],
    ['ann@é.com:80', null],
    ['ann@é%2ecom', null],
    ['ann@é.127', null],
    [`ann@${'é'.repeat(80)}.com`, null],
    [`ann@${'é.'.repeat(100)}com`, null],
    ['ann＠b@example.com', null],
    [`ann@${'e\u0301'.repeat(50_000)}.com`, null],
    ['ann', null],
    ['', null],
  ];
  for (const [typed, canonical] of rows) t.equal(readEmail(typed)?.canonical ?? null, canonical, typed);
});

t.test('A-006 an address may be known by the spellings of earlier releases, as it was typed first', async (t) => {
  t.same(readEmail('Ann@Example.com')?.spellings, ['ann@example.com'], 'most have one');
  t.same(readEmail(PUNY)?.spellings, [PUNY, 'ann@exämple.com', 'ann@exa\u0308mple.com']);
  t.same(readEmail('ANN@EXÄMPLE.com')?.spellings, ['ann@exämple.com', PUNY, 'ann@exa\u0308mple.com']);
  t.same(readEmail('ann@ｅｘａｍｐｌｅ.com')?.spellings, ['ann@ｅｘａｍｐｌｅ.com', 'ann@example.com']);
  t.same(readEmail('josé@example.com')?.spellings, ['josé@example.com', 'jose\u0301@example.com']);
});
