import { useEffect, useRef, useState } from 'preact/hooks';
import { TRANSCRIPT_ENDINGS } from '../../src/domain/transcript_files/transcript_names.js';
import { say } from '../language/say.js';
import { Button } from '../parts/button.js';
import { Dialog } from '../parts/dialog.js';
import { workspaceChoices } from '../recorder/recorded_into.js';
import { WorkspaceChoice } from '../recorder/workspace_choice.js';
import { beginImports } from './imports.js';

/** Names that a system has no audio type for as well. */
const AUDIO = 'audio/*,.m4a,.mp4,.mov,.qta,.3gp,.webm,.mkv,.avi,.opus,.ogg,.oga,.flac,.aac,.caf,.amr,.wma,.w64,.rf64';
const ACCEPTED = [AUDIO, ...TRANSCRIPT_ENDINGS].join();

/** Chooses audio files and transcripts; they may be dropped anywhere on the page as well. */
export function ImportButton() {
  const input = useRef<HTMLInputElement>(null);
  const [asks, setAsks] = useState(false);
  const choose = () => input.current?.click();
  const chosen = (event: Event) => {
    const { files } = event.currentTarget as HTMLInputElement;
    setAsks(false);
    beginImports(files ?? []);
    (event.currentTarget as HTMLInputElement).value = '';
  };
  return (
    <>
      <Button icon="upload" onClick={() => (workspaceChoices().length > 0 ? setAsks(true) : choose())}>
        {say('Import')}
      </Button>
      <Dialog open={asks} title={say('Import')} onClose={() => setAsks(false)}>
        <WorkspaceChoice />
        <div class="dialog-actions">
          <Button kind="primary" onClick={choose}>
            {say('Choose files')}
          </Button>
        </div>
      </Dialog>
      <input
        ref={input}
        type="file"
        aria-label={say('Audio files and transcripts')}
        accept={ACCEPTED}
        multiple
        hidden
        onChange={chosen}
      />
    </>
  );
}

/** Takes files that are dropped on the page, and says so while they hang over it. */
export function DropZone() {
  const [over, setOver] = useState(false);
  useEffect(() => {
    // Each element under the pointer tells of its own: what counts is how many were entered and not left.
    let depth = 0;
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
    const move = (by: number) => (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      depth = Math.max(0, depth + by);
      setOver(depth > 0);
    };
    const drop = (event: DragEvent) => {
      move(-depth)(event);
      beginImports(event.dataTransfer?.files ?? []);
    };
    const listeners = { dragenter: move(1), dragover: move(0), dragleave: move(-1), drop };
    for (const [name, heard] of Object.entries(listeners)) addEventListener(name, heard as EventListener);
    return () => {
      for (const [name, heard] of Object.entries(listeners)) removeEventListener(name, heard as EventListener);
    };
  }, []);
  if (!over) return null;
  return (
    <div class="drop-zone" aria-hidden="true">
      <p>{say('Drop audio files or transcripts to import them')}</p>
    </div>
  );
}
