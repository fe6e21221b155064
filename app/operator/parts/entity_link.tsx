/** Leads to an entity's page; plain text where it has no id that may be shown. */
export function EntityLink({ kind, id, name }: { kind: string; id: string | null; name?: string }) {
  const text = name ?? id ?? '';
  if (id === null) return <span class="mono">{text}</span>;
  return (
    <a class="mono" href={`/entity?${new URLSearchParams({ kind, id })}`}>
      {text}
    </a>
  );
}

/** The same behind its kind in words. */
export function KindAndEntity({
  words,
  ...entity
}: {
  words?: string;
  kind: string;
  id: string | null;
  name?: string;
}) {
  return (
    <span>
      {words ?? entity.kind} <EntityLink {...entity} />
    </span>
  );
}
