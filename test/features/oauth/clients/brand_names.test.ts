import fc from 'fast-check';
import t from 'tap';
import { carriesBrand } from '../../../../src/features/oauth/clients/brand_names.js';

const BRANDS = ['spool'];

const CARRIES = [
  'Spool',
  'SPOOL',
  'spool',
  'My Spool app',
  'Spooler',
  'whirlspool',
  "Spool's",
  // Other alphabets.
  'Ѕрооl', // Cyrillic
  'ѕрооӏ',
  'SРООL',
  'ՏpooⅬ',
  'Sρoοl', // Greek
  'ꓢꓑꓳꓳꓡ', // Lisu
  // Other forms of Latin letters.
  'Ｓｐｏｏｌ', // full-width
  '𝐒𝐩𝐨𝐨𝐥', // mathematical: bold, script, monospace
  '𝓢𝓹𝓸𝓸𝓵',
  '𝚂𝚙𝚘𝚘𝚕',
  'Ⓢⓟⓞⓞⓛ',
  '🅢🅟🅞🅞🅛',
  '🆂🅿🅾🅾🅻',
  '🇸🇵🇴🇴🇱',
  'ꜱᴘᴏᴏʟ', // small capitals
  'ſpool',
  // Digits and letters that look like others.
  'sp00l',
  'SP0OL',
  'spoo1',
  'spooI', // a capital i
  'spoo|',
  // Accents, strokes, and what does not show.
  'Spöol',
  'Šṗőộḷ',
  'spøøl',
  'S\u0336p\u0336o\u0336o\u0336l\u0336',
  'Sp\u200bool',
  'S\u00adp\u2060o\ufeffo\u200dl',
  'Sp\u3164ool',
  'Sp\u{e0001}ool',
  // Spelled out.
  'S p o o l',
  'S.p.o.o.l',
  'S-P-O-O-L app',
  'the S_p•o\u00a0o\u2003l',
  'Sp ool',
];

const FREE = ['Acme', 'spol', 'Pool', 'Spoon', 'Glass Pool', 'Lars Pool Cleaner', 'Spo', 'sooop l', '', '!', '日本語'];

t.test('C-008 names that read like our own are found, look-alikes and all', async (t) => {
  for (const name of CARRIES) t.ok(carriesBrand(name, BRANDS), JSON.stringify(name));
  for (const name of FREE) t.notOk(carriesBrand(name, BRANDS), JSON.stringify(name));
});

t.test('C-008 several brands, with spaces and letters that are changed themselves', async (t) => {
  t.ok(carriesBrand('my MILL works', ['nothing', 'Mill Works']));
  t.ok(carriesBrand('millworks', ['Mill Works']));
  t.ok(carriesBrand('Ｃ＋＋', ['c']));
  t.notOk(carriesBrand('anything', []));
  t.notOk(carriesBrand('anything', ['', '-', '\u200b']), 'a brand without letters is none');
  t.ok(carriesBrand('日本語アプリ', ['日本語']));
});

t.test('C-008 any text around it, in any letter case', async (t) => {
  const around = fc.string({ unit: 'grapheme', maxLength: 20 });
  const cased = fc.tuple(...[...'spool'].map((letter) => fc.constantFrom(letter, letter.toUpperCase())));
  fc.assert(
    fc.property(around, cased, around, (before, letters, after) => {
      // What follows may be a mark that makes the last letter another one; a space keeps it apart.
      return carriesBrand(`${before} ${letters.join('')} ${after}`, BRANDS);
    }),
    { numRuns: 500 },
  );
  t.pass('found in all');
});
