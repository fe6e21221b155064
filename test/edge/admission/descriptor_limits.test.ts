import t from 'tap';
import {
  type DescriptorPlan,
  descriptorLimit,
  planDescriptors,
} from '../../../src/edge/admission/descriptor_limits.js';

const NOTHING = { public_connections: null, device_connections: null };
const sum = ({ public_connections, device_connections, operator_connections }: DescriptorPlan) =>
  public_connections + device_connections + operator_connections;

t.test('what a process may have open is divided, with room left for everything else', async (t) => {
  for (const limit of [128, 200, 256, 1_024, 4_096, 20_000, 65_536, 1_048_576]) {
    const plan = planDescriptors(limit, NOTHING) as DescriptorPlan;
    t.ok(sum(plan) < limit - 64, `${limit}: ${sum(plan)}`);
    for (const count of Object.values(plan)) t.ok(count !== 0, `${limit}: ${JSON.stringify(plan)}`);
  }
  const roomy = { public_connections: 10_000, device_connections: 20_000, operator_connections: 256 };
  t.same(planDescriptors(Number.POSITIVE_INFINITY, NOTHING), { ...roomy, is_low: false });
  t.equal((planDescriptors(1_024, NOTHING) as DescriptorPlan).is_low, true);
});

t.test('what settings say is kept or refused, never made smaller', async (t) => {
  const plan = planDescriptors(1_024, { public_connections: 500, device_connections: null }) as DescriptorPlan;
  t.equal(plan.public_connections, 500);
  t.ok(plan.device_connections >= 1 && sum(plan) < 1_024 - 64);
  t.match(planDescriptors(1_024, { public_connections: 500, device_connections: 500 }), /ask for 1000 connections/);
  t.match(planDescriptors(64, NOTHING), /64 files open/);
});

t.test('the limit is the one of this process', async (t) => {
  t.ok(descriptorLimit() >= 128);
});
