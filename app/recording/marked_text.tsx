/** From and to: in UTF-16 units. `heard`: what sounds now. `found`: what was looked for; `current`: the one that is shown. */
export type Mark = { from: number; to: number; as: 'heard' | 'found' | 'current' };

/** Text with marks, which may overlap. */
export function MarkedText({ text, marks }: { text: string; marks: readonly Mark[] }) {
  if (marks.length === 0) return <bdi>{text}</bdi>;
  const cuts = [...new Set([0, text.length, ...marks.flatMap(({ from, to }) => [from, to])])].sort((a, b) => a - b);
  const pieces = cuts.slice(1).map((to, at) => ({ from: cuts[at] as number, to }));
  return (
    <bdi>
      {pieces.map(({ from, to }) => {
        const as = marks.filter((mark) => mark.from <= from && mark.to >= to).map((mark) => mark.as);
        const piece = text.slice(from, to);
        if (as.length === 0) return piece;
        const is_found = as.some((one) => one !== 'heard');
        return is_found ? (
          <mark key={from} class={as.join(' ')}>
            {piece}
          </mark>
        ) : (
          <span key={from} class="heard">
            {piece}
          </span>
        );
      })}
    </bdi>
  );
}

/** The place in an element's text that was clicked; null where the browser can't tell. */
export function clickedPlace(event: MouseEvent, element: Element): number | null {
  const caret = caretAt(event.clientX, event.clientY);
  if (caret === null || !element.contains(caret.node)) return null;
  const range = document.createRange();
  range.setStart(element, 0);
  range.setEnd(caret.node, caret.offset);
  return range.toString().length;
}

type Caret = { node: Node; offset: number };

/** Older browsers know the one way, others the other. */
function caretAt(x: number, y: number): Caret | null {
  if ('caretPositionFromPoint' in document) {
    const found = document.caretPositionFromPoint(x, y);
    return found && { node: found.offsetNode, offset: found.offset };
  }
  const found = (document as Document).caretRangeFromPoint(x, y);
  return found && { node: found.startContainer, offset: found.startOffset };
}
