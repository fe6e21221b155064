import type { Endpoint } from '../../../tools/client/api.js';
import { Badge } from '../../parts/states.js';

export function EndpointBadge({ endpoint: { status, failure_count, last_success_at } }: { endpoint: Endpoint }) {
  if (status === 'disabled') return <Badge tone="wrong">Disabled</Badge>;
  if (status === 'paused') return <Badge tone="caution">Paused</Badge>;
  if (failure_count > 0) return <Badge tone="caution">Failing</Badge>;
  return <Badge tone={last_success_at === null ? 'plain' : 'good'}>Active</Badge>;
}
