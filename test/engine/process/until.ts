/** Asks again every few milliseconds until `condition` gives something true; throws with `what` after `deadline_ms`. */
export const until = async <Found>(
  what: string,
  condition: () => Found | Promise<Found>,
  deadline_ms = 60_000,
): Promise<Exclude<Found, false | null | undefined>> => {
  const end = performance.now() + deadline_ms;
  while (true) {
    const found = await condition();
    if (found) return found as Exclude<Found, false | null | undefined>;
    if (performance.now() > end) throw new Error(`not within ${deadline_ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
