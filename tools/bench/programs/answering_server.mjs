/** The side of a measured process that answers the runner. */

import { writeFileSync } from 'node:fs';
import inspector from 'node:inspector';

const STOP_MS_MAX = 5_000;

/** Says that the program is ready, and answers questions by name; `stop` is one of them and ends the process. */
export function answer(ready, questions) {
  const session = new inspector.Session();
  const post = (method, params) =>
    new Promise((resolve, reject) =>
      session.post(method, params, (error, value) => (error ? reject(error) : resolve(value))),
    );
  const all = {
    async profile_start() {
      session.connect();
      await post('Profiler.enable');
      await post('Profiler.setSamplingInterval', { interval: 500 });
      await post('Profiler.start');
    },
    async profile_stop({ file }) {
      const { profile } = await post('Profiler.stop');
      session.disconnect();
      writeFileSync(file, JSON.stringify(profile));
    },
    ...questions,
  };
  process.on('message', async ({ id, question, details }) => {
    try {
      const value = await all[question](details);
      if (question === 'stop') process.exit(0);
      process.send({ id, value });
    } catch (error) {
      process.send({ id, error: error.stack ?? String(error) });
    }
  });
  // The runner is gone: what this program has started ends with it.
  process.on('disconnect', async () => {
    setTimeout(() => process.exit(1), STOP_MS_MAX);
    await Promise.resolve(all.stop?.()).catch(() => {});
    process.exit(1);
  });
  process.send({ id: 0, value: ready });
}

export function settings() {
  return JSON.parse(process.argv[2]);
}
