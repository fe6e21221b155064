import type { Conversation, Memory } from '../../kits/typescript/src/api.js';
import { say } from '../language/say.js';
import { Badge } from '../parts/placeholders.js';
import { durationText, Time } from '../parts/time.js';
import { BASE } from '../router.js';
import { EvidenceList, FromSession } from './evidence.js';

export function ConversationRow({ conversation }: { conversation: Conversation }) {
  const { title, summary, topics, participants, parts, started_at, ended_at } = conversation;
  const [first] = parts;
  const names = participants.flatMap(({ speaker_name }) => speaker_name ?? []);
  const length_ms = new Date(ended_at).getTime() - new Date(started_at).getTime();
  const words = <bdi>{title ?? say('Conversation')}</bdi>;
  return (
    <li>
      <div class="row-main">
        <p class="row-facts">
          <Time at={started_at} />
          <span>{durationText(length_ms)}</span>
          {names.length > 0 && <bdi>{names.join(', ')}</bdi>}
          <FromSession id={conversation.session_id} />
        </p>
        {first === undefined ? (
          <p class="row-title">{words}</p>
        ) : (
          <a class="row-title" href={`${BASE}/recordings/${first.stream_id}?t=${first.start_ms}`}>
            {words}
          </a>
        )}
        {summary !== null && (
          <p class="row-text">
            <bdi>{summary}</bdi>
          </p>
        )}
        {topics.length > 0 && (
          <p class="topics">
            {topics.map((topic) => (
              <Badge key={topic}>
                <bdi>{topic}</bdi>
              </Badge>
            ))}
          </p>
        )}
      </div>
    </li>
  );
}

export function MemoryRow({ memory }: { memory: Memory }) {
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{memory.text}</bdi>
        </p>
        <EvidenceList evidence={memory.evidence} text={memory.text} />
      </div>
      {memory.state === 'superseded' && <Badge>{say('Superseded')}</Badge>}
    </li>
  );
}
