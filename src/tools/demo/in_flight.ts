/** Handles items in their order with at most `width` at a time; the first failure ends it. */
export async function inFlight<T>(
  items: readonly T[],
  width: number,
  handle: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const lane = async () => {
    while (next < items.length && !failed) {
      const item = items[next++] as T;
      try {
        await handle(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
}
