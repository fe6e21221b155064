/** The maker of exports, as routes know it (src/features/exports/export_worker.ts). */
export interface Exporter {
  /** This account has asked for an export, or has deleted one. */
  offer(account_id: string): void;
  /** Makes all that is due, to the end; for the test clock. Never rejects. */
  look(): Promise<void>;
  /** Accounts whose exports are under way, or are to be removed. */
  listDue(): Promise<string[]>;
}
