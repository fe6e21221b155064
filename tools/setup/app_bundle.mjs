/*
 * Bundles the account's own pages (app/) and the operators' (app/operator/) into dist/app_bundle: one script and one
 * stylesheet for each, and what a browser must load by itself (the service worker, the audio worklet). Each name holds a hash of what is in the file. Compressed here once, so
 * that no request pays for it.
 */
import { basename, extname } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Where the server serves them. */
const APP_ASSETS_PATH = '/assets/app';

const FOLDER = 'app/';
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
  publicPath: APP_ASSETS_PATH,
  loader: { '.worklet.js': 'file' },
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'silent',
};

/** Entries by the name under which the server asks for them. */
const ENTRIES = {
  script: 'app/main.tsx',
  style: 'app/app.css',
  worker: 'app/worker/service_worker.ts',
  operator_script: 'app/operator/main.tsx',
  operator_style: 'app/operator/operator.css',
};

/** The files of dist/app_bundle with their contents, and `manifest.json`, which says which is which. Throws what esbuild throws. */
export const bundleApp = (root, { buildSync }) => {
  const entryPoints = Object.entries(ENTRIES).map(([out, path]) => ({ out, in: path }));
  const { outputFiles, metafile } = buildSync({ ...OPTIONS, absWorkingDir: root, entryPoints });
  const named = Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
    Object.entries(ENTRIES)
      .filter(([, entry]) => entry === entryPoint)
      .map(([name]) => [name, basename(path)]),
  );
  const manifest = { ...Object.fromEntries(named), files: outputFiles.map(({ path }) => basename(path)).sort() };
  return [
    ...outputFiles.flatMap(({ path, contents }) => withCompressed(basename(path), contents)),
    { name: 'manifest.json', contents: JSON.stringify(manifest) },
  ];
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
