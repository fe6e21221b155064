import t from 'tap';
import {
  NotATranscript,
  readTranscriptFile,
  textOfBytes,
} from '../../../src/domain/transcript_files/transcript_file.js';
import { isTranscriptName } from '../../../src/domain/transcript_files/transcript_names.js';

/** Lines in short: `from-to speaker: text`, in seconds. */
const inShort = (text: string) =>
  readTranscriptFile(text).lines.map(
    ({ start_ms, end_ms, speaker, text }) => `${start_ms / 1_000}-${end_ms / 1_000} ${speaker ?? ''}: ${text}`,
  );
const vtt = (...lines: string[]) => ['WEBVTT', '', ...lines].join('\n');

const ROWS: [title: string, text: string, expected: string[]][] = [
  [
    'WebVTT with all that may stand in it',
    '\ufeffWEBVTT - a title\r\n\r\nSTYLE\r\n::cue { color: red }\r\n\r\nNOTE one --> two is no cue\r\nnor this\r\n\r\nfirst cue\r\n00:01.500 --> 00:03.000 line:0 position:20%\r\n<i>Good</i> morning &amp; hello.\r\n\r\n00:00:04.000 --> 00:00:05.000\r\n<00:04.500><c.loud>Yes</c>.\r\n',
    ['1.5-3 : Good morning & hello.', '4-5 : Yes.'],
  ],
  [
    'voices, closed or not, several in a cue and over several lines',
    vtt(
      '00:01.000 --> 00:02.000',
      '<v.loud Ann Lee>One',
      'two.</v>',
      '',
      '00:02.000 --> 00:03.000',
      '<v Bob>Three.',
      '<v Ann Lee>Four.',
    ),
    ['1-2 Ann Lee: One two.', '2-3 Bob: Three.', '2-3 Ann Lee: Four.'],
  ],
  [
    'Teams',
    vtt(
      '3b1fc1ed-2bc7-4a04-9fb5-5a9f8bd0a6ff/12-0',
      '00:00:01.000 --> 00:00:02.500',
      '<v Mira Holm>Shall we begin?</v>',
    ),
    ['1-2.5 Mira Holm: Shall we begin?'],
  ],
  [
    'Zoom',
    vtt(
      '1',
      '00:00:01.000 --> 00:00:02.000',
      'Mira Holm: Shall we begin?',
      '',
      '2',
      '00:00:03.000 --> 00:00:04.000',
      'Tom: Yes.',
    ),
    ['1-2 Mira Holm: Shall we begin?', '3-4 Tom: Yes.'],
  ],
  [
    'a name in brackets on its own line, and ids that are names',
    vtt(
      '00:01.000 --> 00:02.000',
      '(Mira)',
      'Yes.',
      '',
      'Tom',
      '00:03.000 --> 00:04.000',
      'No.',
      '',
      'Tom',
      '00:05.000 --> 00:06.000',
      'Or.',
    ),
    ['1-2 Mira: Yes.', '3-4 Tom: No.', '5-6 Tom: Or.'],
  ],
  [
    'no speaker is invented',
    vtt(
      ...['00:01.000 --> 00:02.000', 'Note: bring cake.', '', '00:03.000 --> 00:04.000', 'Q: Who brings it?', ''],
      ...[
        '00:05.000 --> 00:06.000',
        'The address is http: slash slash.',
        '',
        '00:07.000 --> 00:08.000',
        'One thing: be there.',
      ],
    ),
    [
      '1-2 : Note: bring cake.',
      '3-4 : Q: Who brings it?',
      '5-6 : The address is http: slash slash.',
      '7-8 : One thing: be there.',
    ],
  ],
  [
    'SubRip whose cues are one sentence, and one without an empty line',
    '1\n00:00:01,000 --> 00:00:02,000\nThe meeting with\n\n2\n00:00:02,100 --> 00:00:03,000\nthe supplier is on Thursday.\n3\n00:00:03,000 --> 00:00:04,000\nGood.\n',
    ['1-3 : The meeting with the supplier is on Thursday.', '3-4 : Good.'],
  ],
  [
    'cues out of order, that overlap, are empty, or end before they begin',
    vtt('00:05.000 --> 00:04.000', 'Five.', '', '00:01.000 --> 00:06.000', 'One.', '', '00:02.000 --> 00:03.000', '♪'),
    ['1-6 : One.', '5-5.001 : Five.'],
  ],
  [
    'Otter',
    'Mira Holm  0:03\nShall we begin?\nI think so.\n\nUnknown Speaker  1:02:10\nYes.\n',
    ['3-3730 Mira Holm: Shall we begin? I think so.', '3730-3732 Unknown Speaker: Yes.'],
  ],
  [
    'Whisper',
    '{"text":"x","language":"en","segments":[{"start":0.5,"end":"1.25","text":" Hello there."}]}',
    ['0.5-1.25 : Hello there.'],
  ],
  [
    'WhisperX, in which a word lacks its times',
    '{"segments":[{"start":0,"end":2,"text":"In 2026.","speaker":"SPEAKER_01","words":[{"word":"In","start":0,"end":1},{"word":"2026."}]}]}',
    ['0-2 SPEAKER_01: In 2026.'],
  ],
  [
    'whisper.cpp, with a control character in a string',
    '{"result":{"language":"en"},"transcription":[{"offsets":{"from":0,"to":1500},"text":" A\u0007b."}]}',
    ['0-1.5 : A b.'],
  ],
  [
    'Fireflies',
    '{"data":{"transcript":{"date":1767225600000,"sentences":[{"index":0,"text":"Hi.","start_time":"0.1","end_time":0.9,"speaker_id":0,"speaker_name":"Ann"},{"text":"Ho.","start_time":1,"end_time":2,"speaker_id":1,"speaker_name":null}]}}}',
    ['0.1-0.9 Ann: Hi.', '1-2 Speaker 1: Ho.'],
  ],
  [
    'omi',
    JSON.stringify({
      id: 'c1',
      started_at: '2026-11-29T10:00:00',
      transcript_segments: [
        { text: 'Good morning.', speaker: 'SPEAKER_00', is_user: true, start: 0.5, end: 2 },
        { text: 'Hello.', speaker: 'SPEAKER_01', speaker_name: 'Tom', start: 2, end: 3 },
      ],
    }),
    ['0.5-2 SPEAKER_00: Good morning.', '2-3 Tom: Hello.'],
  ],
];
for (const [title, text, expected] of ROWS) t.test(`K-411 ${title}`, async (t) => t.same(inShort(text), expected));

t.test('K-411 forms, languages, dates and words are told', async (t) => {
  const of = (index: number) => readTranscriptFile(ROWS[index]?.[1] ?? '');
  t.same(
    ROWS.map((_, at) => of(at).form),
    [
      ...[
        'vtt',
        'vtt',
        'vtt',
        'vtt',
        'vtt',
        'vtt',
        'srt',
        'vtt',
        'otter',
        'whisper',
        'whisperx',
        'whisper.cpp',
        'fireflies',
        'omi',
      ],
    ],
  );
  t.equal(of(9).language, 'en');
  t.equal(of(12).recorded_ms, 1_767_225_600_000);
  t.equal(of(13).recorded_ms, Date.UTC(2026, 10, 29, 10), 'without an offset it is UTC');
  t.same(of(12).speakers, ['Ann', 'Speaker 1']);
  t.equal(of(10).lines[0]?.words, undefined);
  const timed =
    '{"segments":[{"start":0,"end":2,"text":"A b","words":[{"word":" A","start":0,"end":1},{"word":" b","start":1,"end":2}]}]}';
  t.same(readTranscriptFile(timed).lines[0]?.words?.[1], { text: 'b', start_ms: 1_000, end_ms: 2_000 });
});

t.test('K-412 what cannot be read says why', async (t) => {
  const many = vtt(...Array.from({ length: 20_001 }, (_, at) => `${clock(at)} --> ${clock(at)}\nLine ${at}.\n`));
  const rows: [string, string, RegExp][] = [
    ['nothing', '', /form that is not known/],
    ['a letter', 'Dear Ann, how are you?', /form that is not known/],
    ['no cue', 'WEBVTT\n\nNOTE none', /says nothing/],
    ['other JSON', '{"a": 1}', /JSON of a form/],
    ['half of a JSON', '{"segments": [', /is no JSON/],
    ['a segment without times', '{"segments":[{"text":"a"}]}', /without times/],
    ['a time that is none', 'WEBVTT\n\n00:99.000 --> 01:00.000\nA', /a time that is none/],
    ['a time beyond a day', vtt('100:00:00.000 --> 100:00:01.000', 'A'), /beyond 24 hours/],
    ['too many lines', many, /more than 20000 lines/],
    ['a million cues', vtt('00:01.000 --> 00:02.000\n'.repeat(1_000_000)), /more than 100000 cues/],
    [
      'too many speakers',
      vtt(...Array.from({ length: 70 }, (_, at) => `${clock(at)} --> ${clock(at)}\n<v P${at}x>A.\n`)),
      /more than 64 speakers/,
    ],
    ['deep JSON', '['.repeat(100_000), /is JSON in more than 64 levels/],
  ];
  for (const [title, text, why] of rows) t.throws(() => readTranscriptFile(text), why, title);
  t.throws(() => readTranscriptFile(''), NotATranscript);
  t.equal(isTranscriptName('A.VTT'), true);
  t.equal(isTranscriptName('vtt'), false);
});

t.test('K-411 files are UTF-8, UTF-16, or what Windows wrote', async (t) => {
  t.equal(textOfBytes(Buffer.from('Grüße')), 'Grüße');
  t.equal(textOfBytes(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('Grüße', 'utf16le')])), 'Grüße');
  t.equal(textOfBytes(Buffer.from('Gr\u00fc\u00dfe', 'latin1')), 'Grüße');
});

function clock(seconds: number): string {
  const part = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${part(seconds / 3_600)}:${part((seconds / 60) % 60)}:${part(seconds % 60)}.000`;
}
