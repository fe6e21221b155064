import { useState } from 'preact/hooks';
import type { Transcript } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useAction, useLoaded } from '../api/loading.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Dialog, useDialogAbout } from '../parts/dialog.js';
import { useDraft } from '../parts/drafts.js';
import { FormProblem, SelectField } from '../parts/field.js';
import { faultOf } from '../parts/form.js';
import { durationText } from '../parts/time.js';
import { showToast } from '../parts/toast_queue.js';
import { BASE } from '../router.js';
import { contactNamed, PersonField, selfContact, selfContactNamed } from './contact_choice.js';
import { speakerWords, type VoiceColours } from './speaker_colours.js';

type Speaker = Transcript['speakers'][number];

/** Who speaks in a recording, to be named. */
export function Speakers({
  stream_id,
  has_audio,
  speakers,
  colourOf,
  onChange,
}: {
  stream_id: string;
  /** Without audio the names are those of the file. */
  has_audio: boolean;
  speakers: readonly Speaker[];
  colourOf: VoiceColours;
  onChange: (transcript: Transcript) => void;
}) {
  const [named, setNamed] = useDialogAbout(speakers, dialogOf);
  return (
    <>
      <ul class="speakers">
        {speakers.map((one) => (
          <li key={one.speaker}>
            <span class={`dot line-${colourOf(one)}`} aria-hidden="true" />
            <span class="speaker-name">
              {one.contact_id === null ? (
                <bdi>{one.name ?? speakerWords(one.speaker)}</bdi>
              ) : (
                <a href={`${BASE}/people/${one.contact_id}`}>
                  <bdi>{one.name ?? speakerWords(one.speaker)}</bdi>
                </a>
              )}
              <span class="soft">
                {durationText(one.talk_ms)}
                {one.attribution === 'recognized' && `, ${has_audio ? say('by the voice') : say('by the file')}`}
              </span>
            </span>
            <Button small kind="quiet" label={undefined} onClick={() => setNamed(one)}>
              {one.name === null ? say('Name|verb') : say('Change')}
              <span class="visually-hidden"> {one.name ?? speakerWords(one.speaker)}</span>
            </Button>
          </li>
        ))}
      </ul>
      <Dialog
        open={named !== null}
        {...(named === null ? { title: '' } : dialogOf(named))}
        onClose={() => setNamed(null)}
      >
        {named !== null && (
          <SpeakerForm
            stream_id={stream_id}
            speaker={named}
            others={speakers.filter(({ speaker }) => speaker !== named.speaker)}
            onDone={(transcript) => {
              setNamed(null);
              onChange(transcript);
            }}
          />
        )}
      </Dialog>
    </>
  );
}

function dialogOf({ name, speaker }: Speaker): { title: string; about: string } {
  return { title: say('Who is {name}?', { name: name ?? speakerWords(speaker) }), about: speaker };
}

function SpeakerForm({
  stream_id,
  speaker,
  others,
  onDone,
}: {
  stream_id: string;
  speaker: Speaker;
  others: readonly Speaker[];
  onDone: (transcript: Transcript) => void;
}) {
  const [name, setName] = useDraft('name', speaker.name ?? '');
  const [into, setInto] = useState('');
  const path = { id: stream_id, speaker: speaker.speaker };
  const assign = useAction(async (contact_id: string | null) => {
    onDone(await api('PATCH /audio/streams/{id}/speakers/{speaker}', { path, body: { contact_id } }));
  });
  const save = useAction(async () => {
    const { id } = await contactNamed(name);
    onDone(await api('PATCH /audio/streams/{id}/speakers/{speaker}', { path, body: { contact_id: id } }));
    showToast(say('{name} is named.', { name: name.trim() }));
  });
  const self = useLoaded(selfContact, []);
  const is_self = self.data !== null && self.data.id === speaker.contact_id;
  const claim = useAction(async () => {
    const { id } = await selfContactNamed(name);
    onDone(await api('PATCH /audio/streams/{id}/speakers/{speaker}', { path, body: { contact_id: id } }));
    showToast(say('This speaker is you.'));
  });
  const merge = useAction(async () => {
    onDone(await api('POST /audio/streams/{id}/speakers/{speaker}/merge', { path, body: { into } }));
    showToast(say('The two speakers are merged.'));
  });
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save.run();
        }}
      >
        <PersonField label={say('Name')} value={name} onValue={setName} error={faultOf(save.error, 'name')} />
        <FormProblem error={save.error} fields={['name']} />
        <FormProblem error={assign.error ?? claim.error} />
        <div class="dialog-actions">
          {!is_self && (
            <Button busy={claim.busy} onClick={() => void claim.run()}>
              {say('This is me')}
            </Button>
          )}
          {speaker.contact_id !== null && (
            <Button busy={assign.busy} onClick={() => void assign.run(null)}>
              {say('Remove the name')}
            </Button>
          )}
          <Button kind="primary" type="submit" busy={save.busy}>
            {say('Save')}
          </Button>
        </div>
      </form>
      {others.length > 0 && (
        <form
          class="dialog-more"
          onSubmit={(event) => {
            event.preventDefault();
            if (into !== '') void merge.run();
          }}
        >
          <SelectField
            label={say('Merge with')}
            value={into}
            onValue={setInto}
            options={[
              ['', say('Choose a speaker')],
              ...others.map((one) => [one.speaker, one.name ?? speakerWords(one.speaker)] as const),
            ]}
          />
          <FormProblem error={merge.error} />
          <div class="dialog-actions">
            <Button type="submit" disabled={into === ''} busy={merge.busy}>
              {say('Merge speakers')}
            </Button>
          </div>
        </form>
      )}
    </>
  );
}
