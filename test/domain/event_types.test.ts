import t from 'tap';
import { EVENT_TYPES, type EventType, isDelivered } from '../../src/domain/event_types.js';

t.test('F-033 F-035 what is recorded and delivered to nobody', async (t) => {
  const never: EventType[] = ['account.created', 'account.deleted'];
  for (const type of EVENT_TYPES) t.equal(isDelivered(type, {}), !never.includes(type), type);
  t.equal(isDelivered('workspace.deleted', { reason: 'account_deleted' }), false, 'with its account');
  for (const reason of ['owner', 'staff', undefined])
    t.equal(isDelivered('workspace.deleted', { reason }), true, `workspace.deleted, ${reason}`);
  t.equal(isDelivered('personal_access_token.revoked', { reason: 'account_deleted' }), true);
});
