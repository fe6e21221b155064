import fc from 'fast-check';
import t from 'tap';
import {
  bodyFormat,
  chooseAnswerFormat,
  chooseMessageFormat,
  wantsPage,
} from '../../../src/engine/wire/media_types.js';

t.test('H-004 Accept chooses the format of the answer', async (t) => {
  const rows: [string | undefined, 'json' | 'cbor' | 'none'][] = [
    [undefined, 'json'],
    ['', 'json'],
    [' ', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['application/json', 'json'],
    ['application/cbor', 'cbor'],
    ['APPLICATION/CBOR', 'cbor'],
    ['image/png', 'none'],
    ['text/*', 'none'],
    ['application/xml, image/png', 'none'],
    ['image/png, application/cbor', 'cbor'],
    ['application/json, application/cbor', 'json'],
    ['application/cbor, application/json', 'json'],
    ['application/cbor;q=0.9, application/json;q=0.1', 'cbor'],
    ['application/cbor; q=0.1 , application/json; Q=0.9', 'json'],
    ['application/cbor, */*', 'cbor'],
    ['*/*, application/cbor', 'cbor'],
    ['application/cbor, application/*;q=0.5', 'cbor'],
    ['application/cbor;q=0.5, */*', 'json'],
    ['application/json;q=0, */*', 'cbor'],
    ['application/json;q=0', 'none'],
    ['application/json;q=0, application/cbor;q=0', 'none'],
    ['*/*;q=0', 'none'],
    ['*/*;q=0, application/cbor;q=0.001', 'cbor'],
    ['application/*;q=0, */*', 'none'],
    ['application/cbor;q=0.000', 'none'],
    ['application/cbor;q=abc', 'cbor'],
    ['application/cbor;q=2, application/json;q=0.9', 'cbor'],
    ['application/cbor;q=-1', 'cbor'],
    ['application/json;charset=utf-8', 'json'],
    ['application/cbor;profile="a,b;q=0";q=0.7, application/json;q=0.6', 'cbor'],
    ['application/cbor;profile="a\\",b", image/png', 'cbor'],
    ['application/cbor-seq', 'none'],
    ['application/vnd.api+json', 'none'],
    [',', 'none'],
    ['application', 'none'],
  ];
  for (const [accept, format] of rows) t.equal(chooseAnswerFormat(accept), format, String(accept));
});

t.test('H-004 no Accept header makes the choice throw', async (t) => {
  const parts = fc.constantFrom(
    'application/json',
    'application/cbor',
    '*/*',
    ';q=',
    '0.5',
    ',',
    ';',
    '"',
    '\\',
    ' ',
    '=',
    'x',
  );
  const header = fc.oneof(
    fc.string(),
    fc.array(parts, { maxLength: 20 }).map((list) => list.join('')),
  );
  const property = fc.property(header, (accept) => ['json', 'cbor', 'none'].includes(chooseAnswerFormat(accept)));
  t.doesNotThrow(() => fc.assert(property, { numRuns: 1_000 }));
});

t.test('a page is for whoever names HTML and would not have JSON rather', async (t) => {
  const rows: [string | undefined, boolean][] = [
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['text/html', true],
    ['TEXT/HTML; q=0.5', true],
    ['text/html, application/json', true],
    ['application/json, text/html;q=0.5', false],
    ['application/json', false],
    ['*/*', false],
    ['text/*', false],
    ['text/html;q=0', false],
    ['', false],
    [undefined, false],
  ];
  for (const [accept, wants] of rows) t.equal(wantsPage(accept), wants, String(accept));
});

t.test('C-118 a message is answered with JSON wherever Accept has it, else as a stream', async (t) => {
  const rows = [
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['application/json', 'json'],
    ['text/event-stream, application/json;q=0.1', 'json'],
    ['text/event-stream', 'events'],
    ['text/*', 'events'],
    ['*/*, application/json;q=0', 'events'],
    ['text/html', 'none'],
    ['text/event-stream;q=0', 'none'],
  ] as const;
  for (const [accept, format] of rows) t.equal(chooseMessageFormat(accept), format, String(accept));
});

t.test('H-003 Content-Type names the format of a body', async (t) => {
  const rows: [string | undefined, 'json' | 'cbor' | 'unsupported'][] = [
    ['application/json', 'json'],
    ['application/cbor', 'cbor'],
    ['Application/JSON; charset=utf-8', 'json'],
    [' application/cbor ;x=y', 'cbor'],
    [undefined, 'unsupported'],
    ['', 'unsupported'],
    ['text/plain', 'unsupported'],
    ['application/jsonp', 'unsupported'],
    ['application/*', 'unsupported'],
    ['application/json, application/cbor', 'unsupported'],
    ['constructor', 'unsupported'],
    ['__proto__', 'unsupported'],
  ];
  for (const [content_type, format] of rows) t.equal(bodyFormat(content_type), format, String(content_type));
});
