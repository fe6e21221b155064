import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { beginImports } from './imports.js';

/** Names that a system has no audio type for as well. */
const ACCEPTED =
  'audio/*,.m4a,.mp4,.mov,.qta,.3gp,.webm,.mkv,.avi,.opus,.ogg,.oga,.flac,.aac,.caf,.amr,.wma,.w64,.rf64';

/** Chooses audio files; they may be dropped anywhere on the page as well. */
export function ImportButton() {
  const input = useRef<HTMLInputElement>(null);
  const chosen = (event: Event) => {
    const { files } = event.currentTarget as HTMLInputElement;
    beginImports(files ?? []);
    (event.currentTarget as HTMLInputElement).value = '';
  };
  return (
    <>
      <Button icon="upload" onClick={() => input.current?.click()}>
        Import
      </Button>
      <input ref={input} type="file" aria-label="Audio files" accept={ACCEPTED} multiple hidden onChange={chosen} />
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
      <p>Drop audio files to import them</p>
    </div>
  );
}
