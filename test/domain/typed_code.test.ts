import t from 'tap';
import { typedCode } from '../../src/domain/typed_code.js';

const digitsFrom = (zero: number) => (code: string) =>
  code.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

t.test('digits of any script are those of ASCII', async (t) => {
  for (const zero of [0x30, 0x660, 0x6f0, 0x966, 0xe50, 0xff10, 0x1d7ce, 0x1d7f6, 0x1fbf0])
    t.equal(typedCode(digitsFrom(zero)('1234567890')), '1234567890', zero.toString(16));
});

t.test('blanks, dashes and marks that can not be seen are passed over', async (t) => {
  for (const text of [
    '123-456',
    '123–456',
    '123 456',
    '\ufeff123\u00a0456\r\n',
    '\u200e123\u200b456\u2060',
    '12\u00ad3−456',
  ])
    t.equal(typedCode(text), '123456', JSON.stringify(text));
});

t.test('letters are of usual width and in upper case, and other characters stay', async (t) => {
  t.equal(typedCode('ｋ7m2-qx0p'), 'K7M2QX0P');
  t.equal(typedCode('12a.45_6'), '12A.45_6');
});
