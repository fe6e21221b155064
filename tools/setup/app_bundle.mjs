/*
 * Bundles the account's own pages (app/) and the operators' (app/operator/) into dist/app_bundle: a stylesheet for each,
 * one script for the operators, and for the account a script with those that its pages import when they are shown. What a
 * browser must load by itself lies beside them (the service worker, the audio worklet). Each name holds a hash of what is
 * in the file. Compressed here once, so that no request pays for it.
 */
import { basename, extname } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Where the server serves them. */
const APP_ASSETS_PATH = '/assets/app';

const FOLDER = 'app/';
const PAGES = 'app/pages/';
const GZIP_LEVEL = 9;

/** Files elsewhere that are bundled as well. */
const FROM_ELSEWHERE = [
  'src/edge/pages/files/basics.css',
  'src/edge/pages/scope_texts.ts',
  'src/domain/backoff.ts',
  'kits/typescript/src/typed_call.ts',
];

export const isOfApp = (path) => path.startsWith(FOLDER) || FROM_ELSEWHERE.includes(path);

const OPTIONS = {
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022', 'chrome111', 'firefox115', 'safari16.4'],
  tsconfig: 'tsconfig.app.json',
  outdir: 'dist/app_bundle',
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  publicPath: APP_ASSETS_PATH,
  loader: { '.worklet.js': 'file' },
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'silent',
};

const SCRIPT = 'app/main.tsx';

/** Entries by the name under which the server asks for them. Those without `splitting` are one file each. */
const BUNDLES = [
  { splitting: true, entries: { script: SCRIPT } },
  {
    splitting: false,
    entries: {
      style: 'app/app.css',
      worker: 'app/worker/service_worker.ts',
      operator_script: 'app/operator/main.tsx',
      operator_style: 'app/operator/operator.css',
    },
  },
];

/** The files of dist/app_bundle with their contents, and `manifest.json`, which says which is which. Throws what esbuild throws. */
export const bundleApp = (root, { buildSync }) => {
  const built = BUNDLES.map(({ splitting, entries }) => {
    const entryPoints = Object.entries(entries).map(([out, path]) => ({ out, in: path }));
    const { outputFiles, metafile } = buildSync({ ...OPTIONS, splitting, absWorkingDir: root, entryPoints });
    return { entries, outputFiles, outputs: metafile.outputs };
  });
  const named = built.flatMap(({ entries, outputs }) =>
    Object.entries(entries).map(([name, path]) => [name, basename(outputOf(outputs, path))]),
  );
  const outputFiles = built.flatMap((one) => one.outputFiles);
  const manifest = {
    ...Object.fromEntries(named),
    ...scriptsBehind(built[0].outputs),
    files: outputFiles.map(({ path }) => basename(path)).sort(),
  };
  return [
    ...outputFiles.flatMap(({ path, contents }) => withCompressed(basename(path), contents)),
    { name: 'manifest.json', contents: JSON.stringify(manifest) },
  ];
};

const outputOf = (outputs, path) => Object.keys(outputs).find((one) => outputs[one].entryPoint === path);

/** `preloads`: what the script needs before it runs. `pages`: what it imports once a page is shown; no other language. */
const scriptsBehind = (outputs) => {
  const first = reachedFrom([outputOf(outputs, SCRIPT)], outputs);
  const pages = Object.keys(outputs).filter((path) => (outputs[path].entryPoint ?? '').startsWith(PAGES));
  const later = reachedFrom(pages, outputs).filter((path) => !first.includes(path));
  return { preloads: first.slice(1).map((path) => basename(path)), pages: later.map((path) => basename(path)) };
};

/** Outputs with all that they import at once, each once. */
const reachedFrom = (paths, outputs) => {
  const reached = new Set(paths);
  for (const path of reached)
    for (const { kind, path: imported } of outputs[path].imports)
      if (kind === 'import-statement') reached.add(imported);
  return [...reached];
};

const withCompressed = (name, contents) => [
  { name, contents },
  { name: `${name}.br`, contents: brotliCompressSync(contents, brotliOptions(name, contents)) },
  { name: `${name}.gz`, contents: gzipSync(contents, { level: GZIP_LEVEL }) },
];

const brotliOptions = (name, contents) => ({
  params: {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: contents.length,
    [constants.BROTLI_PARAM_MODE]: /^\.(js|css)$/.test(extname(name))
      ? constants.BROTLI_MODE_TEXT
      : constants.BROTLI_MODE_GENERIC,
  },
});
