/** Where a recording goes, from one workspace to another, as the actors that follow it hear it. */
export type StreamMove = { stream_id: string; account_id: string; from: string; to: string };
