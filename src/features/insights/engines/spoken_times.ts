import { countOf, type FormGroups, type FormPlace, readAll, spokenForm } from './spoken_forms.js';

/** Times of day that a sentence names: "at nine", "half past eleven", "ten past nine", "by 5 pm". */

type SpokenTime = {
  /** Since midnight. */
  minute: number;
  /** Whether it says which half of the day it means. */
  is_exact: boolean;
  /** "In two hours": so many minutes from now; `minute` is none then. */
  ahead_min?: number;
};
export type TimeMention = SpokenTime & FormPlace;

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
const FOLLOWS = `(?= (?:[,.;?!]|o'clock|am|pm|in|on|about|next|this|these|sharp|ish|the|please|then|okay|for|so|and|or|if|with|to|latest|at|because|i|we|you|it|${DAY}|that|but|when|instead|until|till|is|works|else|now|anyway)(?: |$)|$)`;
const HALF_OF_DAY = "(?: o'clock)?(?: (?<half>am|pm))?(?=(?<part> in the (?:morning|afternoon|evening)| at night)?)";
const SPAN =
  '(?:(?<share>(?:a )?half|(?:a )?quarter|3 quarters)(?: of)? (?:an? )?hour|(?<count>an?|\\d{1,2}|(?:a )?couple of)(?<plus> and a half)? (?:(?<hours>hours?|hrs?|h)|minutes?|mins?)(?<more> and a half)?)';

const shareOf = ({ share = '' }: FormGroups) =>
  share.endsWith('half') ? 30 : share.endsWith('quarter') ? 15 : share === '3 quarters' ? 45 : Number(share);
const timeForm = spokenForm<SpokenTime, string>;
const aheadForm = (source: string) =>
  timeForm(source, (said) => ({ minute: 0, is_exact: true, ahead_min: spanOf(said) }));
/** `minutesPast`: those past the hour. */
const clockForm = (source: string, minutesPast = ({ minutes = '0' }: FormGroups) => Number(minutes)) =>
  timeForm(`${source}${HALF_OF_DAY}`, (said, text) => {
    const hour = Number(said.hour);
    const { is_pm, is_exact } = halfOfDay(hour, said, text);
    const minute = (is_pm === null ? hour : (hour % 12) + (is_pm ? 12 : 0)) * 60 + minutesPast(said);
    return minute >= 0 && minute < DAY_MIN ? { minute, is_exact } : null;
  });

/** The first form that says a time counts. */
const FORMS = [
  timeForm('noon|midday', () => ({ minute: NOON, is_exact: true })),
  timeForm('midnight', () => ({ minute: DAY_MIN - 1, is_exact: true })),
  aheadForm(`(?:in|within) (?:(?:about|around|the|next|just|another) )*${SPAN}(?: from now)?(?! ago)`),
  aheadForm(`${SPAN} from now`),
  aheadForm('within the (?<hours>hour)'),
  clockForm('(?<hour>\\d{1,2})[:.h](?<minutes>[0-5]\\d)'),
  clockForm(`(?<share>half|(?:a )?quarter|[12]?\\d)(?: minutes)? past ${HOUR_12}`, shareOf),
  clockForm(
    `(?<=(?:^| )(?:at|by|before|around|until|till|about|says?|is|it|it's|that's) )(?<share>10) to ${HOUR_12}${FOLLOWS}`,
    (said) => -shareOf(said),
  ),
  clockForm(`(?<!(?:^| )from )(?<share>5|20|25|(?:a )?quarter) to ${HOUR_12}${FOLLOWS}`, (said) => -shareOf(said)),
  // "Friday, ten to two" is a span.
  clockForm(`(?<!(?:^| )from )(?<hour>10)(?= to [1-6]${FOLLOWS})`),
  clockForm(`(?<!(?:^| )from )(?<share>10) to ${HOUR_12}${FOLLOWS}`, (said) => -shareOf(said)),
  clockForm(`(?<!(?:^| )(?:a|an|the|other|first|second|1|my|your|and) )half ${HOUR_12}${FOLLOWS}`, () => 30),
  clockForm(`${HOUR}${MINUTES}?${TOLD}`),
  clockForm(`(?<=${DAY} (?:, )?)${HOUR_12}${MINUTES}`),
  clockForm(`${LEAD}${HOUR}${MINUTES}?${FOLLOWS}`),
];

export function timesIn(text: string): TimeMention[] {
  return readAll(FORMS, text, text);
}

function spanOf(said: FormGroups): number {
  if (said.share !== undefined) return shareOf(said);
  const number = countOf(said.count) + (said.plus === undefined && said.more === undefined ? 0 : 0.5);
  return Math.round(number * (said.hours === undefined ? 1 : 60));
}

/** The half of the day is what the sentence says, or else the one in which people meet. */
function halfOfDay(
  hour: number,
  { half, part, hour: said = '' }: FormGroups,
  text: string,
): { is_pm: boolean | null; is_exact: boolean } {
  if (hour > 12 || hour === 0 || (said.startsWith('0') && half === undefined && part === undefined))
    return { is_pm: null, is_exact: true };
  if (half !== undefined || part !== undefined)
    return { is_pm: half === 'pm' || /afternoon|evening|night/.test(part ?? ''), is_exact: true };
  const is_exact = /\b(?:every|each|daily|mornings?)\b/.test(text);
  if (
    /\b(?:evenings?|tonight|nights?|dinner|supper|concert|party|cinema|opera|gig|pub|drinks)\b/.test(text) &&
    hour < 12
  )
    return { is_pm: true, is_exact };
  if (/\b(?:mornings?|breakfast|early|wake|alarm|get up)\b/.test(text) && hour > 4) return { is_pm: false, is_exact };
  return { is_pm: hour < AFTERNOON_BEFORE || hour === 12, is_exact };
}
