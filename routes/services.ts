import type { EdgeServices } from '../src/edge/http/edge_services.js';
import type { Draining } from '../src/edge/operations/draining.js';
import type { OperationQueries } from '../src/edge/operations/operation_queries.js';
import type { Watch } from '../src/edge/operations/watch.js';
import type { Members } from '../src/engine/cluster/members.js';
import type { ProcessQueries } from '../src/engine/cluster/process_queries.js';
import type { ServerKeyRotation } from '../src/engine/secrets/server_key_rotation.js';
import type { StorageHealth } from '../src/engine/store/storage_health.js';
import type { DeviceQueries } from '../src/features/devices/activity.js';
import type { FeatureServices } from '../src/features/services.js';
import type { EndpointQueries } from '../src/features/webhooks/endpoint_activity.js';

/** What handlers work with; made once at the start. */
export type Services = FeatureServices &
  EdgeServices & {
    settings: {
      captcha_script_url: string | null;
      captcha_site_key: string | null;
      captcha_widget_class: string;
      data_dir: string;
      smtp_url: string | null;
      test_clock: boolean;
    };
    /** What the start page may name beside what is for everybody; null where others than this machine call the server. */
    development(): { operators_url: string; inbox_url: string | null } | null;
    /** The processes that work on this Redis. */
    members: Members;
    server_key_rotation: ServerKeyRotation;
    /** Whether storage does what requests ask of it. */
    storage_health: StorageHealth;
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
