import { type FormGroups, type FormPlace, matchAt, readEach, spokenForm } from './spoken_forms.js';

/** Times of day that a sentence names: "at nine", "half past eleven", "ten past nine", "by 5 pm". */

export type TimeMention = FormPlace & {
  /** Since midnight. */
  minute: number;
  /** Whether it says which half of the day it means. */
  is_exact: boolean;
  /** "In two hours": so many minutes from now; `minute` is none then. */
  ahead_min?: number;
};

const NOON = 12 * 60;
const DAY_MIN = 24 * 60;
/** Without a word for it, hours before this one are of the afternoon. */
const AFTERNOON_BEFORE = 7;

const DAY = '(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|today|tonight)';
const MINUTES = '(?: (?:oh )?(?<minutes>(?<=oh )\\d|[1-5]\\d))';
const HOUR = '(?<hour>1\\d|2[0-4]|[1-9])';
const HOUR_12 = '(?<hour>1[0-2]|[1-9])';
/** Before an hour that is a number alone. */
const LEAD =
  '(?<=(?:^| )(?:at|by|before|around|until|till|from|about|say|after|between|make (?:it|that)|(?:from \\d+|it|that) to) )';
const TOLD = "(?= (?:o'clock|am|pm|in the (?:morning|afternoon|evening)|at night)(?: |$))";
/** May follow an hour: anything else is what is counted, such as "at four percent". */
const FOLLOWS = `(?= (?:[,.;?!]|o'clock|am|pm|in|on|next|this|these|sharp|ish|the|please|then|okay|for|so|and|or|if|with|to|latest|at|because|i|we|you|it|${DAY}|that|but|when|instead|until|till|is|works)(?: |$)|$)`;
const HALF_OF_DAY = "(?: o'clock)?(?: (?<half>am|pm))?(?=(?<part> in the (?:morning|afternoon|evening)| at night)?)";
const SPAN =
  '(?:(?<share>(?:a )?half|(?:a )?quarter|3 quarters)(?: of)? (?:an? )?hour|(?<count>an?|\\d{1,2}|(?:a )?couple of)(?<plus> and a half)? (?:(?<hours>hours?|hrs?|h)|minutes?|mins?)(?<more> and a half)?)';

type ClockForm = { form: RegExp; minutes: (said: FormGroups) => number };
const past = ({ minutes = '0' }: FormGroups) => Number(minutes);
const shares = ({ share = '' }: FormGroups) =>
  share.endsWith('half') ? 30 : share.endsWith('quarter') ? 15 : share === '3 quarters' ? 45 : Number(share);
const clockForm = (source: string, minutes: ClockForm['minutes'] = past): ClockForm => ({
  form: spokenForm(`${source}${HALF_OF_DAY}`),
  minutes,
});

/** Hours, and the minutes past them. */
const CLOCK_FORMS: readonly ClockForm[] = [
  clockForm('(?<hour>\\d{1,2})[:.h](?<minutes>\\d\\d)'),
  clockForm(`(?<share>half|(?:a )?quarter|[12]?\\d)(?: minutes)? past ${HOUR_12}`, shares),
  clockForm(
    `(?<=(?:^| )(?:at|by|before|around|until|till|about|says?|is|it|it's|that's) )(?<share>5|10) to ${HOUR_12}${FOLLOWS}`,
    (said) => -shares(said),
  ),
  clockForm(`(?<!(?:^| )from )(?<share>20|25|(?:a )?quarter) to ${HOUR_12}${FOLLOWS}`, (said) => -shares(said)),
  // "Friday, ten to two" is a span.
  clockForm(`(?<!(?:^| )from )(?<hour>5|10)(?= to (?:1[0-2]|[1-9])${FOLLOWS})`),
  clockForm(`(?<!(?:^| )(?:a|an|the|other|first|second|1|my|your|and) )half ${HOUR_12}${FOLLOWS}`, () => 30),
  clockForm(`${HOUR}${MINUTES}?${TOLD}`),
  clockForm(`(?<=${DAY} (?:, )?)${HOUR_12}${MINUTES}`),
  clockForm(`${LEAD}${HOUR}${MINUTES}?${FOLLOWS}`),
];
const AHEAD = [
  spokenForm(`(?:in|within) (?:(?:about|around|the|next|just|another) )*${SPAN}(?: from now)?(?! ago)`),
  spokenForm(`${SPAN} from now`),
];
const WITHIN_THE_HOUR = spokenForm('within the (?<hours>hour)');

export function timesIn(text: string): TimeMention[] {
  return readEach(text, (at) => aheadAt(text, at) ?? clockAt(text, at));
}

/** "in two hours", "in half an hour", "within the hour", "an hour and a half from now" */
function aheadAt(text: string, at: number): TimeMention | null {
  for (const form of [...AHEAD, WITHIN_THE_HOUR]) {
    const match = matchAt(form, text, at);
    if (match === null) continue;
    const { share, count = '1', hours, plus, more } = match.said;
    const number = /couple/.test(count) ? 2 : Number(/\d+/.exec(count)?.[0] ?? 1);
    const span = (number + ((plus ?? more) ? 0.5 : 0)) * (hours === undefined ? 1 : 60);
    const ahead_min = share === undefined ? Math.round(span) : shares(match.said);
    return { minute: 0, ahead_min, is_exact: true, from: match.from, to: match.to };
  }
  return null;
}

function clockAt(text: string, at: number): TimeMention | null {
  const noon = matchAt(NAMED, text, at);
  if (noon !== null) {
    const minute = noon.said.midnight === undefined ? NOON : DAY_MIN - 1;
    return { minute, is_exact: true, from: noon.from, to: noon.to };
  }
  for (const { form, minutes } of CLOCK_FORMS) {
    const match = matchAt(form, text, at);
    if (match === null) continue;
    const hour = Number(match.said.hour);
    const { is_pm, is_exact } = halfOfDay(hour, match.said, text);
    const minute = (is_pm === null ? hour : (hour % 12) + (is_pm ? 12 : 0)) * 60 + minutes(match.said);
    const is_time = minute >= 0 && minute < DAY_MIN && past(match.said) < 60;
    return is_time ? { minute, is_exact, from: match.from, to: match.to } : null;
  }
  return null;
}
const NAMED = spokenForm('noon|midday|(?<midnight>midnight)');

/** The half of the day is what the sentence says, or else the one in which people meet. */
function halfOfDay(
  hour: number,
  { half, part }: FormGroups,
  text: string,
): { is_pm: boolean | null; is_exact: boolean } {
  if (hour > 12 || hour === 0) return { is_pm: null, is_exact: true };
  if (half !== undefined || part !== undefined)
    return { is_pm: half === 'pm' || /afternoon|evening|night/.test(part ?? ''), is_exact: true };
  const is_exact = /\b(?:every|each|daily|mornings?)\b/.test(text);
  if (/\b(?:evenings?|tonight|nights?|dinner)\b/.test(text) && hour < 12) return { is_pm: true, is_exact };
  if (/\b(?:mornings?|breakfast|early)\b/.test(text) && hour > 4) return { is_pm: false, is_exact };
  return { is_pm: hour < AFTERNOON_BEFORE || hour === 12, is_exact };
}
