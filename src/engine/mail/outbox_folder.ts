import { join } from 'node:path';

/** Where mails lie while SMTP is not configured. */
export function outboxFolder({ data_dir }: { data_dir: string }): string {
  return join(data_dir, 'outbox');
}
