import { join } from 'node:path';
import type { Settings } from '../../host/settings.js';

/** Where mails lie while SMTP is not configured. */
export function outboxFolder({ data_dir }: Pick<Settings, 'data_dir'>): string {
  return join(data_dir, 'outbox');
}
