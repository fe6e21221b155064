import t from 'tap';
import { judgeConditions } from '../../../src/edge/http/preconditions.js';

const TAG = '"abc"';

t.test('K-021 If-None-Match and If-Match are judged as RFC 9110 has it', async (t) => {
  for (const [known, wanted, judged] of [
    [undefined, undefined, 'send'],
    [TAG, undefined, 'not_modified'],
    [`"other", W/${TAG}`, undefined, 'not_modified'],
    [`"a,b",${TAG}`, undefined, 'not_modified'],
    ['*', undefined, 'not_modified'],
    ['"other"', undefined, 'send'],
    ['abc', undefined, 'send'],
    [undefined, TAG, 'send'],
    [undefined, `"other" , ${TAG}`, 'send'],
    [undefined, '*', 'send'],
    [undefined, '"other"', 'failed'],
    [undefined, `W/${TAG}`, 'failed'],
    [undefined, '', 'failed'],
    [TAG, TAG, 'not_modified'],
    [TAG, '"other"', 'failed'],
  ] as const)
    t.equal(judgeConditions({ 'if-none-match': known, 'if-match': wanted }, TAG), judged, `${known} and ${wanted}`);
});
