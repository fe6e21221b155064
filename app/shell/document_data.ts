/** The data in the document that the server sent. */

const root = document.getElementById('app') as HTMLElement;

export const DOCUMENT_DATA = {
  root,
  /** The address that the server knows itself by; signing in leads there and nowhere else. */
  base_url: root.dataset.baseUrl as string,
  icon: root.dataset.icon as string,
  /** Whether the server has a language model that answers questions. */
  has_answers: root.dataset.answers === 'yes',
  /** Whether the server sends mails; else it keeps them for its operator. */
  sends_mail: root.dataset.mail === 'yes',
};
