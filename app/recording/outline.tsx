import { useEffect, useRef } from 'preact/hooks';
import type { Turn } from '../../kits/typescript/src/api.js';
import { PEAKS } from '../audio/peaks.js';
import type { Player } from '../audio/player.js';
import { say } from '../language/say.js';
import { colourNamed, onColours } from '../parts/scheme.js';
import { spokenDuration } from '../parts/time.js';
import type { VoiceColours } from './speaker_colours.js';

const STEP_MS = 5_000;
const LARGE_STEP_MS = 30_000;

type Drawn = { peaks: Float32Array | null; turns: readonly Turn[]; colourOf: VoiceColours };

/** The whole recording at a glance: how loud it is, and who speaks when. It seeks, by mouse, finger and keyboard. */
export function Outline({ player, peaks, turns, colourOf }: { player: Player } & Drawn) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const length_ms = player.length_ms.value;
  const position_ms = player.position_ms.value;

  const draw = () => {
    if (canvas.current !== null) drawOutline(canvas.current, { peaks, turns, colourOf, length_ms, position_ms });
  };
  const redraw = useRef(draw);
  redraw.current = draw;
  useEffect(draw);
  useEffect(() => {
    const again = () => redraw.current();
    const sizes = new ResizeObserver(again);
    if (canvas.current !== null) sizes.observe(canvas.current);
    const colours = onColours(again);
    return () => {
      sizes.disconnect();
      colours();
    };
  }, []);

  const seekTo = (event: PointerEvent) => {
    const { left, width } = (box.current as HTMLDivElement).getBoundingClientRect();
    player.seek(((event.clientX - left) / width) * length_ms);
  };
  const onKey = (event: KeyboardEvent) => {
    const to = targetOf(event.key, { position_ms: player.position_ms.peek(), length_ms });
    if (event.key === ' ') void player.toggle();
    else if (to === null) return;
    else player.seek(to);
    event.preventDefault();
  };
  return (
    <div
      ref={box}
      class="outline"
      role="slider"
      tabIndex={0}
      aria-label={say('Position')}
      aria-valuemin={0}
      aria-valuemax={Math.round(length_ms / 1_000)}
      aria-valuenow={Math.round(position_ms / 1_000)}
      aria-valuetext={say('{at} of {length}', {
        at: spokenDuration(position_ms),
        length: spokenDuration(length_ms),
      })}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        seekTo(event);
      }}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && seekTo(event)}
    >
      <canvas ref={canvas} />
    </div>
  );
}

function targetOf(key: string, { position_ms, length_ms }: { position_ms: number; length_ms: number }): number | null {
  switch (key) {
    case 'ArrowRight':
    case 'ArrowUp':
      return position_ms + STEP_MS;
    case 'ArrowLeft':
    case 'ArrowDown':
      return position_ms - STEP_MS;
    case 'PageUp':
      return position_ms + LARGE_STEP_MS;
    case 'PageDown':
      return position_ms - LARGE_STEP_MS;
    case 'Home':
      return 0;
    case 'End':
      return length_ms;
    default:
      return null;
  }
}

const BAR_PX = 3;
const GAP_PX = 1;
const LANE_PX = 6;

function drawOutline(
  canvas: HTMLCanvasElement,
  { peaks, turns, colourOf, length_ms, position_ms }: Drawn & { length_ms: number; position_ms: number },
): void {
  const ratio = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (width === 0 || length_ms === 0) return;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  const colour = (name: string) => colourNamed(name, canvas);
  const xOf = (ms: number) => (ms / length_ms) * width;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);

  const lane_top = height - LANE_PX;
  const wave_height = lane_top - LANE_PX;
  const [ahead, behind] = [colour('--field-edge'), colour('--accent')];
  if (peaks === null) {
    context.fillStyle = colour('--edge');
    context.fillRect(0, wave_height / 2 - 1, width, 2);
    for (const { start_ms, end_ms } of turns) {
      context.fillStyle = end_ms <= position_ms ? behind : ahead;
      const x = xOf(start_ms);
      context.fillRect(x, wave_height * 0.25, Math.max(1, xOf(end_ms) - x - 1), wave_height * 0.5);
    }
  } else {
    const bars = Math.floor(width / (BAR_PX + GAP_PX));
    for (let n = 0; n < bars; n++) {
      const from = Math.floor((n / bars) * PEAKS);
      const to = Math.max(from + 1, Math.floor(((n + 1) / bars) * PEAKS));
      let loudest = 0;
      for (let at = from; at < to; at++) loudest = Math.max(loudest, peaks[at] ?? 0);
      const tall = Math.max(2, loudest * wave_height);
      const x = n * (BAR_PX + GAP_PX);
      context.fillStyle = x <= xOf(position_ms) ? behind : ahead;
      context.fillRect(x, (wave_height - tall) / 2, BAR_PX, tall);
    }
  }
  for (const turn of turns) {
    const { start_ms, end_ms } = turn;
    const number = colourOf(turn);
    context.fillStyle = colour(number === 0 ? '--field-edge' : `--line-${number}`);
    const x = xOf(start_ms);
    context.fillRect(x, lane_top, Math.max(1, xOf(end_ms) - x - 1), LANE_PX - 2);
  }
  context.fillStyle = colour('--text');
  context.fillRect(Math.min(width - 2, Math.max(0, xOf(position_ms) - 1)), 0, 2, height);
}
