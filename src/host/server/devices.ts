import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { type Authority, openAuthority } from '../../../certs/authority.js';
import { PeerCertificates } from '../../../certs/inspection.js';
import { DeviceBudgets } from '../../edge/admission/device_budgets.js';
import { DeviceProxies } from '../../edge/admission/device_proxies.js';
import type { ImmutableRecordsRedis } from '../../engine/store/immutable_records.js';
import { IssuedCertificates } from '../../engine/store/issued_certificates.js';
import type { Clock } from '../../engine/time/clock.js';
import { DeviceActivity } from '../../features/devices/activity.js';
import { DeviceConnections } from '../../features/devices/connections.js';
import type { Start } from './start.js';

/** Who devices are, and what they are allowed. */
export type DeviceServices = {
  authority: Authority;
  certificates: IssuedCertificates;
  connections: DeviceConnections;
  device_activity: DeviceActivity;
  device_budgets: DeviceBudgets;
  device_proxies: DeviceProxies;
  peer_certificates: PeerCertificates;
};

export async function openDevices(
  { settings }: Start,
  { clock, records, redis }: { clock: Clock; records: ImmutableRecordsRedis; redis: Redis },
): Promise<DeviceServices> {
  const authority = await openAuthority(join(settings.data_dir, 'certs'), clock.now());
  return {
    authority,
    certificates: new IssuedCertificates(records),
    connections: new DeviceConnections(redis),
    device_activity: new DeviceActivity(clock.now),
    device_budgets: new DeviceBudgets(settings.rate_device_requests, { on: settings.rate_limits }),
    device_proxies: new DeviceProxies(settings.device_proxies, authority.issuers),
    peer_certificates: new PeerCertificates(authority.issuers),
  };
}
