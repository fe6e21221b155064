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
  for (const [typed, canonical] of rows) t.equal(readEmail(typed), canonical, typed);
});
