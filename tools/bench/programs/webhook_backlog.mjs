/** Makes and empties backlogs of deliveries, in the process that is measured. */
const AT_ONCE = 64;
const DRAIN_MAX_MS = 120_000;

export function webhookDoors({ runtime, deliveries, metrics }) {
  const succeeded = async () => {
    const { values } = await metrics.deliveries.get();
    const others = values.filter(({ labels, value }) => labels.outcome !== 'succeeded' && value > 0);
    if (others.length > 0) throw new Error(`deliveries ended otherwise: ${JSON.stringify(others)}`);
    return values.find(({ labels }) => labels.outcome === 'succeeded')?.value ?? 0;
  };
  return {
    /** From now on nothing is delivered: whoever has just delivered the last one would take the next ones as well. */
    async hold_deliveries() {
      await deliveries.handleDue();
      deliveries.wake = () => {};
    },
    /** So many events in each account. */
    async cause_events({ account_ids, count }) {
      for (let at = 0; at < count; at += AT_ONCE) {
        const part = Array.from(
          { length: Math.min(AT_ONCE, count - at) },
          (_, index) => `name ${at + index} ${Date.now()}`,
        );
        for (let from = 0; from < account_ids.length; from += AT_ONCE) {
          const some = account_ids.slice(from, from + AT_ONCE);
          const asked = some.flatMap((id) =>
            part.map((name) => runtime.ask({ kind: 'account', id }, { type: 'rename', name })),
          );
          for (const answer of await Promise.all(asked)) {
            if (answer.refused !== undefined) throw new Error(`no event: ${JSON.stringify(answer)}`);
          }
        }
      }
    },
    /** Delivers again, and resolves when so many more deliveries are recorded as succeeded. */
    async drain({ endpoint_ids, count }) {
      const wanted = (await succeeded()) + count;
      const began = performance.now();
      delete deliveries.wake;
      deliveries.wake(endpoint_ids);
      let found = await succeeded();
      while (found < wanted) {
        if (performance.now() - began > DRAIN_MAX_MS) throw new Error(`only ${found} of ${wanted} deliveries`);
        await new Promise((resolve) => setTimeout(resolve, 10));
        found = await succeeded();
      }
      if (found !== wanted) throw new Error(`${found} deliveries recorded, not ${wanted}`);
      return { ops: count, seconds: (performance.now() - began) / 1000 };
    },
  };
}
