/* Imports run one way: routes → src/runtime → actors → src/domain. */

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
      name: 'routes-are-the-top',
      comment: 'Only the program that puts everything together knows the routes.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(server|load_parts)\\.ts$' },
      to: { path: '^routes/' },
    },
    {
      name: 'http-is-an-edge',
      comment: 'What decides, stores and works on its own knows nothing of requests and answers.',
      severity: 'error',
      from: { path: '^(actors|src/(domain|store|runtime|workers))/' },
      to: { path: '^src/http/' },
    },
    {
      name: 'tools-run-beside-a-server',
      comment: 'Programs that talk to a server are never part of one.',
      severity: 'error',
      from: { path: '^(src|actors|routes|certs)/', pathNot: '^src/(tools|app)/' },
      to: { path: '^(src/tools|kits)/' },
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
      comment: "Of the server it knows the API's types, how a call is made of a name, and what scopes mean in words.",
      severity: 'error',
      from: { path: '^src/app/' },
      to: {
        path: '^(src|actors|routes|certs|kits)/',
        pathNot: '^(src/app/|src/pages/scope_words\\.ts$|kits/typescript/src/(api|typed_call)\\.ts$)',
      },
    },
    {
      name: 'nothing-imports-the-app',
      severity: 'error',
      from: { pathNot: '^(src/app|test)/' },
      to: { path: '^src/app/' },
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
      from: { path: '^(src|actors|routes|certs)/', pathNot: '^src/app/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '/@types/' },
    },
    {
      name: 'everything-is-found',
      comment: 'The benchmarks have packages of their own, installed when they first run.',
      severity: 'error',
      from: { pathNot: '^bench/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
