import t from 'tap';
import { CURRENT_SCOPES, isScope, TRANSCRIBES } from '../../../src/domain/scopes.js';
import { abilitiesOf, SCOPE_TEXTS } from '../../../src/edge/pages/scope_texts.js';

const EARLIER_NAMES = [
  ...['suggestions:read', 'suggestions:write', 'contacts:read', 'contacts:write'],
  ...['events:read', 'recall:read', 'sources:write'],
];

t.test('every scope has words, current and earlier ones', async (t) => {
  t.same(Object.keys(SCOPE_TEXTS).sort(), [...CURRENT_SCOPES, ...EARLIER_NAMES, TRANSCRIBES].sort());
  for (const [scope, abilities] of Object.entries(SCOPE_TEXTS)) {
    t.ok(isScope(scope), scope);
    t.ok(abilities.length > 0, scope);
    t.ok(
      scope.endsWith(':read')
        ? abilities.some(({ does }) => does === 'read')
        : abilities.some(({ does }) => does === 'change'),
      scope,
    );
    for (const { words } of abilities) t.match(words, /^[A-Z][^:_]+[^.]$/, scope);
  }
});

t.test('what two scopes allow is said once, and what has no words is said by its name', async (t) => {
  t.equal(abilitiesOf(['turns:read', 'contacts:read', 'events:read']).read.length, 1);
  t.same(
    abilitiesOf(['new:scope', 'constructor']).change.map(({ words }) => words),
    ['new:scope', 'constructor'],
  );
  t.same(abilitiesOf([]), { read: [], change: [] });
});

t.test('scopes that can destroy are told apart', async (t) => {
  for (const scope of ['account:manage', 'files:write', 'turns:write', 'workspace:manage']) {
    t.ok(
      abilitiesOf([scope]).change.some(({ grave }) => grave),
      scope,
    );
  }
  t.notOk(abilitiesOf(['insights:write']).change.some(({ grave }) => grave));
});
