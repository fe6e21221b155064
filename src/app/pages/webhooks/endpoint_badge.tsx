import type { Endpoint } from '../../../tools/client/api.js';
import { Badge } from '../../parts/states.js';

export function EndpointBadge({ endpoint: { status, failure_count } }: { endpoint: Endpoint }) {
  if (status === 'disabled') return <Badge tone="wrong">Disabled</Badge>;
  if (status === 'paused') return <Badge tone="caution">Paused</Badge>;
  return failure_count > 0 ? <Badge tone="caution">Failing</Badge> : <Badge tone="good">Active</Badge>;
}
