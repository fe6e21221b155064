import t from 'tap';
import { dropHallucinations } from '../../../src/features/transcripts/hallucination_filter.js';

/** A minute of what people say. */
const SPEECH = {
  English: `So I told her we would come by on Saturday after lunch, and that the children want to see the new boat, which is
    still at the harbour because nobody had the time to paint it. She said that was fine, but we should bring something to
    eat, as the shop down there is closed until the end of the month. I thought we could make a salad and maybe take the
    cheese that Peter brought from his trip. He was in the mountains for two weeks and came back with more food than
    clothes. Anyway, if the weather is bad we will stay at home and play cards, and you are of course invited, both of you.`,
  Russian: `Я сказал ей, что мы приедем в субботу после обеда, и что дети хотят посмотреть новую лодку, которая всё ещё стоит в
    гавани, потому что ни у кого не было времени её покрасить. Она ответила, что это хорошо, но нужно взять с собой еду, так
    как магазин внизу закрыт до конца месяца. Я подумал, что можно сделать салат и взять сыр, который Пётр привёз из поездки.
    Он был две недели в горах и вернулся с едой, а не с вещами. Если погода будет плохая, останемся дома и сыграем в карты.`,
  Hindi: `मैंने उससे कहा कि हम शनिवार को दोपहर के खाने के बाद आएँगे और बच्चे नई नाव देखना चाहते हैं, जो अभी तक बंदरगाह पर खड़ी है
    क्योंकि किसी के पास उसे रंगने का समय नहीं था। उसने कहा कि ठीक है, लेकिन हमें कुछ खाने को लाना चाहिए, क्योंकि नीचे की दुकान महीने
    के अंत तक बंद है। मैंने सोचा कि हम सलाद बना सकते हैं और वह पनीर ले जा सकते हैं जो पीटर अपनी यात्रा से लाया था। अगर मौसम
    खराब हुआ तो हम घर पर रहेंगे और ताश खेलेंगे, और ज़ाहिर है कि तुम दोनों भी आमंत्रित हो।`,
  Thai: `ฉันบอกเธอว่าเราจะไปหาในวันเสาร์หลังอาหารกลางวัน และเด็ก ๆ อยากเห็นเรือลำใหม่ที่ยังจอดอยู่ที่ท่าเรือ เพราะไม่มีใครมีเวลาทาสี
    เธอบอกว่าไม่เป็นไร แต่เราควรเอาของกินไปด้วย เพราะร้านข้างล่างปิดจนถึงสิ้นเดือน ฉันคิดว่าเราทำสลัดกันได้ แล้วก็เอาชีสที่ปีเตอร์
    ซื้อมาจากการเดินทางไปด้วย ถ้าอากาศไม่ดีเราก็จะอยู่บ้านเล่นไพ่กัน`,
  Japanese: `土曜日の昼ご飯のあとに寄ると彼女に言いました。子どもたちが新しい船を見たがっているからです。誰も塗る時間がなかったので、船は
    まだ港にあります。彼女はそれでいいと言いましたが、下の店は月末まで閉まっているので、何か食べるものを持ってきてほしいそうです。
    サラダを作って、ピーターが旅行から持ち帰ったチーズも持っていこうと思いました。`,
};

t.test('what people say at length is no loop, in whatever script', async (t) => {
  for (const [language, text] of Object.entries(SPEECH)) {
    const said = text.replace(/\s+/g, ' ');
    t.equal(dropHallucinations([{ text: said }]).kept.length, 1, language);
    t.equal(
      dropHallucinations([{ text: Array(12).fill(said.slice(0, 60)).join(' ') }]).kept.length,
      0,
      `${language}, in a loop`,
    );
  }
});

t.test('text that was probably not said is dropped and counted', async (t) => {
  const rows: [string, Record<string, number>, boolean][] = [
    ['no figures at all', {}, true],
    ['sure', { no_speech_prob: 0.1, avg_logprob: -0.2, compression_ratio: 1.5 }, true],
    ['silence, but the model is sure of its words', { no_speech_prob: 0.9, avg_logprob: -1 }, true],
    ['at the bound of silence', { no_speech_prob: 0.6, avg_logprob: -3 }, true],
    ['silence, and not sure', { no_speech_prob: 0.61, avg_logprob: -1.01 }, false],
    ['silence alone', { no_speech_prob: 0.99 }, true],
    ['not sure alone', { avg_logprob: -5 }, true],
    ['at the bound of repetition', { compression_ratio: 2.4 }, true],
    ['again and again and again', { compression_ratio: 2.41 }, false],
    ['figures that a server has none of', { compression_ratio: -1, avg_logprob: -1, no_speech_prob: -1 }, true],
    ['[BLANK_AUDIO]', {}, false],
    [' [BLANK_AUDIO]  [ Silence ][MUSIC] ', {}, false],
    ['[BLANK_AUDIO] Hello.', {}, true],
    ['...', {}, false],
    ['♪♪', {}, false],
    ['— ? 👏', {}, false],
    ['7', {}, true],
    ['はい', {}, true],
    ['No, no, no, wait.', {}, true],
    ['Thanks for watching! '.repeat(24), {}, false],
    ['hey, '.repeat(120), {}, false],
    ['ご視聴ありがとうございました。'.repeat(12), {}, false],
    ['धन्यवाद। '.repeat(40), {}, false],
    ['Thanks for watching! '.repeat(24), { compression_ratio: 1.2 }, true],
    [`${'Thanks for watching! '.repeat(40)}`, {}, false],
    [`${SPEECH.English} ${'you '.repeat(100)}`, {}, true],
  ];
  for (const [text, figures, is_kept] of rows) {
    const segment = { text, ...figures };
    t.same(dropHallucinations([segment]), { kept: is_kept ? [segment] : [], dropped: is_kept ? 0 : 1 }, text);
  }
});

t.test('of equal segments in a row three stay', async (t) => {
  const texts = (...said: string[]) => said.map((text) => ({ text }));
  const keptOf = (...said: string[]) => dropHallucinations(texts(...said)).kept.map(({ text }) => text);
  t.same(keptOf('Yes.', 'yes', 'Yes!', 'YES', 'yes.'), ['Yes.', 'yes', 'Yes!'], 'whatever case and marks');
  t.same(keptOf('a', 'a', 'a', 'b', 'a'), ['a', 'a', 'a', 'b', 'a'], 'another one begins a new row');
  t.equal(dropHallucinations(texts(...Array<string>(100).fill('Thank you.'))).dropped, 97);
  t.same(dropHallucinations([]), { kept: [], dropped: 0 });
});
