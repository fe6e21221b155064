/** The settings in the server's document. */

const root = document.getElementById('app') as HTMLElement;

export const ENVIRONMENT = {
  root,
  icon: root.dataset.icon as string,
  /** Whether mails are written to files, so that there is an inbox. */
  has_inbox: root.dataset.inbox === 'true',
};
