const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Such as `12 s`, `5 min`, `3 h`, `2 d`. */
export function spanText(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.max(0, Math.round(ms / 1000))} s`;
  if (ms < HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return ms < 48 * HOUR_MS ? `${Math.round(ms / HOUR_MS)} h` : `${Math.round(ms / HOUR_MS / 24)} d`;
}

/** Such as `4:05` or `1:04:05`. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const two = (part: number) => String(part).padStart(2, '0');
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
