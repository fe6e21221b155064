import t from 'tap';
import { holdsHiddenMarks, isSeen } from '../../src/domain/hidden_marks.js';

t.test('marks of direction and characters without width are hidden', async (t) => {
  for (const mark of [
    '\u00ad',
    '\u061c',
    '\u200b',
    '\u200e',
    '\u202e',
    '\u2060',
    '\u2066',
    '\u2069',
    '\ufeff',
    '\u{e0041}',
  ])
    t.ok(holdsHiddenMarks(`to${mark}day`), JSON.stringify(mark));
  for (const joiner of ['\u200c', '\u200d']) t.ok(holdsHiddenMarks(`a ${joiner}b`), 'a joiner that joins nothing');
});

t.test('joiners of letters and emoji, tags of flags and signs of Arabic numbers are not', async (t) => {
  for (const text of [
    'می\u200cخواهم',
    'അവന്\u200d പോയി',
    '👩\u200d👧',
    '❤\ufe0f\u200d🔥',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
    '\u06dd12',
    '1\ufe0f\u20e3',
  ])
    t.notOk(holdsHiddenMarks(text), text);
});

t.test('a text of hidden marks, fillers and marks on nothing is not seen', async (t) => {
  for (const text of ['', ' \u200b ', '\u2060', '\u3164', '\u0301', '\u200d', '\u{e0067}'])
    t.notOk(isSeen(text), JSON.stringify(text));
  for (const text of ['a', '…', '🏴', '한']) t.ok(isSeen(text), text);
});
