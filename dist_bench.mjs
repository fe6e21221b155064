import { Block, encodeBlock } from './dist/src/domain/search/block.js';
import { stemmerOf } from './dist/src/domain/search/stemmers.js';
import { termsIn } from './dist/src/domain/search/words.js';
import { QueryWord } from './dist/src/domain/search/matching.js';
import { evaluate } from './dist/src/content/search/evaluate.js';
import { Ranking } from './dist/src/content/search/ranking.js';
const N = Number(process.argv[2] ?? 100000), FUZZY = process.argv[3] === 'fuzzy', ANY = process.argv[4]==='any', NW=Number(process.argv[5] ?? 3);
let seed = 42; const rnd = () => (seed = (seed * 1664525 + 1013904223) >>> 0) / 2 ** 32;
const syl = ['ba','ke','ti','lo','mu','ra','ne','si','po','da','fe','gu','ho','ji','ka','le','mo','nu','pa','ri','so','tu','va','we','xi','yo','za'];
const V = 40000; const vocab = Array.from({ length: V }, (_, i) => { let w = ''; let k = i + 27; while (k > 0) { w += syl[k % 27]; k = Math.floor(k / 27); } return w + (i%7===0?'ing':i%5===0?'s':''); });
const zipf = () => Math.min(V - 1, Math.floor(Math.exp(rnd() * Math.log(V))));
const shelf = { library_id: 'l', transcripts: new Map(), items: new Map(), deleted_streams: new Set() };
const en = stemmerOf('en'); let bytes = 0; let blocks = 0;
const per = 100; const hex = (n, d) => n.toString(16).padStart(d, '0');
for (let s = 0, made = 0; made < N; s++) {
  const pages = [];
  for (let p = 0; p < 12 && made < N; p++) {
    const texts = Array.from({ length: per }, (_, i) => ({ serial: i, start_ms: i * 6000, speaker: 1 + i % 3, stemmer: en, terms: termsIn(Array.from({ length: 4 + Math.floor(rnd() * 16) }, () => vocab[zipf()]).join(' '), 'en') }));
    made += per; const b = new Block(encodeBlock({ begins_at_ms: 1.79e12 + s * 3.6e6 + p * 600000, source_id: null }, texts)); bytes += b.bytes; blocks++;
    pages.push({ page: p, block: b });
  }
  shelf.transcripts.set(`01999999-${hex(s, 4)}-7222-8222-2222220000aa`, pages);
}
for (let i = 0; i < N / 50; i++) shelf.items.set('s' + hex(i + 1, 8), new Block(encodeBlock({ begins_at_ms: 1.79e12 + i * 1e5, source_id: null }, [{ serial: 0, start_ms: 0, speaker: 0, stemmer: en, terms: termsIn(Array.from({ length: 8 }, () => vocab[zipf()]).join(' '), 'en') }])));
console.log('blocks', blocks, 'bytes/turn', (bytes / N).toFixed(1));
const scope = { shelves: [shelf], kinds: new Set(['turn', 'suggestion']), pipeline: 0, source_id: null, deleted_sources: new Set() };
const times = []; let hitsum = 0;
for (let q = 0; q < 300; q++) {
  const words = [...new Set(Array.from({ length: 1 + (q % NW) }, () => vocab[zipf()]))];
  const t0 = performance.now();
  const { hits, weights } = evaluate(scope, { words: words.map((w) => new QueryWord(w, { fuzzy: FUZZY })), match: ANY?'any':'all', exact: [], excluded: [], from_ms: -Infinity, to_ms: Infinity });
  const r = new Ranking(hits, { scoreOf: (h) => hits.score(h, weights), sort: 'relevance', after: null }); r.take(25);
  const t = performance.now() - t0; if (q >= 30) times.push(t); hitsum += hits.count;
}
times.sort((a, b) => a - b); const at = (p) => times[Math.floor(p * (times.length - 1))].toFixed(2);
console.log(`N ${N} fuzzy ${FUZZY} any ${ANY} words<=${NW}: p50 ${at(.5)} p95 ${at(.95)} p99 ${at(.99)} max ${at(1)} hits/q ${(hitsum / 300).toFixed(0)}`);
