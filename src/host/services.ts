import type { Logger } from 'pino';
import type { OperationQueries } from '../edge/operations/operation_queries.js';
import type { Watch } from '../edge/operations/watch.js';
import type { Members } from '../engine/cluster/members.js';
import type { ProcessQueries } from '../engine/cluster/process_queries.js';
import type { DeviceQueries } from '../features/devices/activity.js';
import type { EndpointQueries } from '../features/webhooks/endpoint_activity.js';
import type { Metrics } from '../engine/runtime/metrics.js';
import type { Tracing } from '../engine/tracing/tracing.js';
import type { Exporter } from '../features/exports/exporter.js';
import type { SearchShelves } from '../features/search/shelves.js';
import type { AdmissionServices } from './server/admission.js';
import type { DeliveryServices } from './server/delivery.js';
import type { DeviceServices } from './server/devices.js';
import type { Draining } from './server/draining.js';
import type { IdentityServices } from './server/identity.js';
import type { StorageServices } from './server/storage.js';
import type { developmentAddresses, publicAddresses, Settings } from './settings.js';

/** What routes and workers work with; made once at the start. */
export type Services = StorageServices &
  DeliveryServices &
  DeviceServices &
  IdentityServices &
  AdmissionServices & {
    settings: Settings;
    /** Ours, once the listeners have their ports. */
    addresses(): ReturnType<typeof publicAddresses>;
    development(): ReturnType<typeof developmentAddresses>;
    log: Logger;
    metrics: Metrics;
    /** The processes that work on this Redis. */
    members: Members;
    exports: Exporter;
    /** What can be found, as far as it is in memory. */
    search_shelves: SearchShelves;
    /** Null where traces go nowhere. */
    tracing: Tracing | null;
    /** What operators see of how this process is doing. */
    watch: Watch;
    draining: Draining;
    /** All that serve on these ports, as operators ask them. */
    processes: ProcessQueries<OperationQueries & DeviceQueries & EndpointQueries>;
    /** Applies the outbox messages that are under way, for the test clock: what was asked before it moves comes before. */
    handleMessages(): Promise<void>;
    /** Handles all that is due by now: reminders, outbox messages, mails, deliveries, old events. For the test clock. */
    handleDue(): Promise<void>;
  };
