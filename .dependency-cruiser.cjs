/*
 * Imports run one way, from storey to storey: src/host, routes, src/edge and src/features, src/access, src/engine, actors,
 * src/domain. docs/architecture.md, "The map". tools/checks/rooms.mjs holds the rooms of one storey apart.
 */

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Two files that import each other are one file, or hide a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'actors-are-pure',
      comment: 'Actors decide; they know no Redis, HTTP, clock or randomness. Types alone may come from elsewhere.',
      severity: 'error',
      from: { path: '^actors/' },
      to: { pathNot: '^(actors|src/domain)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'actors-know-nothing-above',
      comment: 'Not even the types of the layers above.',
      severity: 'error',
      from: { path: '^actors/' },
      to: { path: '^(src|routes|certs)/', pathNot: '^src/domain/' },
    },
    {
      name: 'domain-imports-nothing',
      comment: 'But what computes with words.',
      severity: 'error',
      from: { path: '^src/domain/', pathNot: '^src/domain/search/' },
      to: { pathNot: '^src/domain/' },
    },
    {
      name: 'search-imports-words',
      severity: 'error',
      from: { path: '^src/domain/search/' },
      to: { pathNot: '^(src/domain/|node_modules/(@orama/stemmers|double-metaphone)/|module$)' },
    },
    {
      name: 'engine-knows-no-product',
      comment: 'Machinery knows nothing of accounts, recordings or requests.',
      severity: 'error',
      from: { path: '^src/engine/' },
      to: { path: '^(src/(access|features|edge|host)|routes)/' },
    },
    {
      name: 'access-stands-on-the-engine',
      severity: 'error',
      from: { path: '^src/access/' },
      to: { path: '^(src/(features|edge|host)|routes)/' },
    },
    {
      name: 'features-know-no-requests',
      severity: 'error',
      from: { path: '^src/features/' },
      to: { path: '^(src/(edge|host)|routes)/' },
    },
    {
      name: 'edge-knows-no-features',
      severity: 'error',
      from: { path: '^src/edge/' },
      to: { path: '^(src/(features|host)|routes)/' },
    },
    {
      name: 'routes-know-no-host',
      severity: 'error',
      from: { path: '^routes/' },
      to: { path: '^src/host/' },
    },
    {
      name: 'tools-run-beside-a-server',
      comment: 'Programs that talk to a server are never part of one.',
      severity: 'error',
      from: { path: '^(src|actors|routes|certs)/' },
      to: { path: '^(tools|kits)/' },
    },
    {
      name: 'kits-stand-alone',
      comment: 'Others install them without the server.',
      severity: 'error',
      from: { path: '^kits/([^/]+)/' },
      to: { pathNot: '^kits/$1/', dependencyTypesNot: ['core', 'npm'] },
    },
    {
      name: 'app-runs-in-browsers',
      comment:
        "Of the server it knows the API's types, how a call is made of a name, how a file is imported, how bytes go into a body, what scopes mean in words, how texts are translated, how spans and calendars are written, how waits grow, and what a transcript file holds.",
      severity: 'error',
      from: { path: '^app/' },
      to: {
        path: '^(src|actors|routes|certs|tools|kits)/',
        pathNot:
          '^(app/|src/(edge/pages/scope_texts|domain/(backoff|calendar_text|language/(text_table|german_scopes)|span_text|speech_before|transcript_files/transcript_(file|names)))\\.ts$|kits/typescript/src/(api|cbor_body|file_import|typed_call)\\.ts$)',
      },
    },
    {
      name: 'nothing-imports-the-app',
      severity: 'error',
      from: { pathNot: '^(app|test)/' },
      to: { path: '^app/' },
    },
    {
      name: 'nothing-imports-tests',
      severity: 'error',
      from: { pathNot: '^test/' },
      to: { path: '^test/' },
    },
    {
      name: 'no-development-packages',
      severity: 'error',
      comment: 'The app is bundled when it is built, with what it imports.',
      from: { path: '^(src|actors|routes|certs)/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '/@types/' },
    },
    {
      name: 'everything-is-found',
      comment:
        'The benchmarks have packages of their own, installed when they first run; programs run what a build makes.',
      severity: 'error',
      from: { pathNot: '^tools/bench/' },
      to: { couldNotResolve: true, pathNot: '(^|/)dist/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
