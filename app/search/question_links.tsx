import { BASE, place } from '../router.js';

/** Questions, each of which a link asks: of the recording that alone is searched, where there is one. */
export function QuestionLinks({ questions }: { questions: readonly string[] }) {
  const recording = place.value.query.get('recording');
  const within: Record<string, string> = recording === null ? {} : { recording };
  return (
    <ul class="points">
      {questions.map((q) => (
        <li key={q}>
          <a href={`${BASE}/search?${new URLSearchParams({ q, ...within })}`}>
            <bdi>{q}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}
