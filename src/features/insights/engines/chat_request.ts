/** The body of a question to `/chat/completions`, in the forms that servers know. */

/** The most telling form first. */
export const CHAT_FORMS = ['json_schema', 'json_object', 'text'] as const;
export type ChatForm = (typeof CHAT_FORMS)[number];

/** `schema`: of the answer, under a `name`. Everything that people said stands in `user`. */
export type ChatQuestion = { system: string; user: unknown; name: string; schema: object };

export function chatBody(
  { system, user, name, schema }: ChatQuestion,
  { form, model }: { form: ChatForm; model: string | null },
): string {
  const formats = {
    json_schema: { response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } } },
    json_object: { response_format: { type: 'json_object' } },
    text: {},
  };
  return JSON.stringify({
    ...(model !== null && { model }),
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: JSON.stringify(user) },
    ],
    // Some models take no temperature but their own.
    ...(form !== 'text' && { temperature: 0 }),
    ...formats[form],
  });
}
