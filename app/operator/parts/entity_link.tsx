import { showToast } from '../../parts/toast_queue.js';
import { labelOf } from '../labels.js';

/** `text`: stands for the label where the page says the rest of it. */
type EntityName = { kind: string; id: string | null; name?: string; text?: string; href?: string };

/** Leads to an entity's page, with its label as text and its id beside it; plain text where it has no id that may be shown. */
export function EntityLink({ kind, id, name, text, href }: EntityName) {
  if (id === null) return <span class="mono">{name}</span>;
  const label = text ?? labelOf(kind, id);
  const to = href ?? `/entity?${new URLSearchParams({ kind, id })}`;
  if (label === null) {
    return (
      <a class="mono" href={to}>
        {name ?? id}
      </a>
    );
  }
  return (
    <span class="entity">
      <a href={to}>{label}</a> <IdButton id={id} />
    </span>
  );
}

/** The characters of a UUID that differ most: it begins with a time, and ends alike for all of an account. */
const ID_PART = [9, 13] as const;

/** A part of an id, by which one tells two of the same label apart, or the `whole` id. A click shows and copies all of it. */
export function IdButton({ id, whole = false }: { id: string; whole?: boolean }) {
  const show = async () => {
    try {
      await navigator.clipboard.writeText(id);
      showToast(`${id} is copied.`);
    } catch {
      showToast(`The id is ${id}.`);
    }
  };
  return (
    <button type="button" class="id mono" title={id} aria-label={`Copy the id ${id}`} onClick={() => void show()}>
      <span>{whole ? id : id.slice(...ID_PART)}</span>
    </button>
  );
}

/** Kinds whose label is a name alone, and does not say the kind. */
export const NAMED_ALONE: readonly string[] = ['account', 'endpoint'];

/** The same behind its kind in words, where its label does not say it. */
export function KindAndEntity({ words, ...entity }: EntityName & { words?: string }) {
  const says_kind =
    entity.id !== null && !NAMED_ALONE.includes(entity.kind) && labelOf(entity.kind, entity.id) !== null;
  return (
    <span>
      {!says_kind && `${words ?? entity.kind.replaceAll('_', ' ')} `}
      <EntityLink {...entity} />
    </span>
  );
}
