/** The program of a server process. Signals first: loading the rest takes a while. */

/** A terminal's signals go to the whole group, a service manager's to each process: the primary says what to do. */
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {});

await import('./child_run.js');
