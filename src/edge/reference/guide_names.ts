/** The guides, in the order in which pages link to them. Each is a file of docs/. */
export const GUIDES = [
  { name: 'first_calls', title: 'First calls', about: 'Signing in, recording and reading with curl' },
  { name: 'oauth', title: 'OAuth guide', about: 'Sign-in for apps of others, of ours, and without a browser' },
  { name: 'accounts', title: 'Account guide', about: 'Tokens, workspaces, deleting and restoring' },
  { name: 'export', title: 'Export guide', about: 'Files, and an archive of all data of an account' },
  { name: 'events', title: 'Event guide', about: 'What happens in an account, by polling' },
  { name: 'devices', title: 'Device guide', about: 'Provisioning, streams, chunks, what a recorder must survive' },
  { name: 'webhooks', title: 'Webhook guide', about: 'Receiving events, checking signatures, retries' },
  { name: 'transcription', title: 'Transcription guide', about: 'Engines, workers, what becomes of audio' },
  { name: 'dictation', title: 'Dictation guide', about: 'Text of audio for programs that speak OpenAI’s API' },
  { name: 'omi', title: 'omi', about: 'Recordings of what omi’s app sends' },
  { name: 'watching', title: 'Watching a folder', about: 'Recordings of files that appear in a folder' },
  { name: 'notes', title: 'Notes', about: 'Recordings as Markdown, for Obsidian and others' },
  { name: 'flows', title: 'Flows', about: 'n8n and Home Assistant act on what was heard' },
  { name: 'insights', title: 'Insights guide', about: 'Conversations, memories and suggestions' },
  { name: 'search', title: 'Search guide', about: 'Finding words, and recall for assistants' },
  { name: 'assistants', title: 'Assistant guide', about: 'Connecting an assistant over MCP' },
  { name: 'running', title: 'Running it', about: 'A small server, and one of ten machines' },
] as const;

export type Guide = (typeof GUIDES)[number]['name'];
