/*
 * How many threads wait for files. Loaded before anything asks for one of them: an ES module would be too late. With the
 * four that are usual a disk whose syncs take 10 ms bounds uploads, and whoever reads a file waits behind them.
 */
process.env.UV_THREADPOOL_SIZE ??= '16';
