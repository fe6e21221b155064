import type { Delivery, Endpoint } from '../../../kits/typescript/src/api.js';
import { say } from '../../language/say.js';
import { Badge } from '../../parts/placeholders.js';
import { isTriedInVain } from './health.js';

export function EndpointBadge({
  endpoint: { status, failure_count, last_success_at },
  newest,
}: {
  endpoint: Endpoint;
  newest: Delivery | null;
}) {
  if (status === 'disabled') return <Badge tone="wrong">{say('Disabled')}</Badge>;
  if (status === 'paused') return <Badge tone="caution">{say('Paused')}</Badge>;
  if (failure_count > 0 || isTriedInVain(newest)) return <Badge tone="caution">{say('Failing')}</Badge>;
  return <Badge tone={last_success_at === null ? 'plain' : 'good'}>{say('Active')}</Badge>;
}
