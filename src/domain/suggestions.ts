/** Statuses of a suggestion, and who may lead it from one to another. Rule K-077; docs/choices.md, "Insights". */
export const SUGGESTION_STATUSES = ['open', 'accepted', 'completed', 'dismissed', 'withdrawn'] as const;
export type SuggestionStatus = (typeof SUGGESTION_STATUSES)[number];

/** To which statuses a person leads one. No person withdraws: that is what a run does when nothing bears it any more. */
const BY_PERSON: Readonly<Record<SuggestionStatus, readonly SuggestionStatus[]>> = {
  open: ['accepted', 'completed', 'dismissed'],
  accepted: ['completed', 'dismissed', 'open'],
  completed: ['accepted', 'dismissed', 'open'],
  dismissed: ['accepted', 'completed', 'open'],
  withdrawn: ['accepted', 'dismissed', 'open'],
};

/** Whether a person may lead it there; from a status to itself there is nothing to do. */
export function mayBecome(from: SuggestionStatus, to: SuggestionStatus): boolean {
  return BY_PERSON[from].includes(to);
}

/** Whether a run may withdraw it: what nobody has touched, and what is open. */
export function mayWithdraw({ status, touched }: { status: SuggestionStatus; touched: boolean }): boolean {
  return status === 'open' && !touched;
}
