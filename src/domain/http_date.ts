const DAYS = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun';
const LONG_DAYS = 'Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';

/** IMF-fixdate, the only form to send, and the two that recipients must accept as well: RFC 850 and asctime. */
const FORMS = [
  new RegExp(`^(?:${DAYS}), (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^(?:${LONG_DAYS}), (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^(?:${DAYS}) ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];
/** A two-digit year that would be further ahead than this belongs to the century before. */
const YEARS_AHEAD_MAX = 50;

/** The time of an HTTP-date (RFC 9110, 5.6.7), ms; null for any other text. Its weekday is not checked. */
export function httpDateMs(text: string, now_ms: number): number | null {
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return null;
  const month = MONTHS.indexOf(parts.month ?? '');
  const [day = 0, hour, minute, second] = [parts.day, parts.hour, parts.minute, parts.second].map(Number);
  const at = (year: number) => Date.UTC(year, month, day, hour, minute, second);
  const written = Number(parts.year);
  let ms = at(written);
  if (parts.year?.length === 2) {
    const this_year = new Date(now_ms).getUTCFullYear();
    const year = this_year - (this_year % 100) + written;
    const latest_ms = new Date(now_ms).setUTCFullYear(this_year + YEARS_AHEAD_MAX);
    ms = at(year) > latest_ms ? at(year - 100) : at(year);
  }
  // A day that its month has not rolls over; a leap second may, too.
  return new Date(ms - Number(parts.second) * 1_000).getUTCDate() === day ? ms : null;
}
