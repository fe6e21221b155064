import type { ActorKind } from '../../../actors/actor.js';
import { decodeStored, encodeStored } from '../store/codec.js';
import type { Entity } from './batch.js';

/** The stored form of an entity: schema version, state, marks. */
type Snapshot = { k: number; s: unknown; m?: Record<string, number> };

/** Decodes the stored state of an entity and migrates it to its kind's present schema. Throws if it can't be used. */
export function readSnapshot(kind: ActorKind, bytes: Uint8Array): Entity {
  const snapshot = decodeStored(bytes) as Snapshot;
  if (typeof snapshot !== 'object' || snapshot === null || !Number.isInteger(snapshot.k))
    throw new Error('not a snapshot');
  if (snapshot.k > kind.schema) throw new NewerSchema(snapshot.k, kind.schema);
  let state = snapshot.s;
  if (state !== null) {
    for (let schema = snapshot.k; schema < kind.schema; schema++) {
      const upcast = kind.upcast?.[schema];
      if (upcast === undefined) throw new Error(`no way from schema ${schema} to ${schema + 1}`);
      state = upcast(state as never);
    }
    const broken = kind.invariant?.(state) ?? null;
    if (broken !== null) throw new Error(`invariant broken: ${broken}`);
  }
  return { state, marks: snapshot.m ?? {}, schema: snapshot.k };
}

/** The state was written by a newer process. That process can read it, and the state is intact. */
export class NewerSchema extends Error {
  override name = 'NewerSchema';
  readonly schema: number;

  constructor(schema: number, known: number) {
    super(`snapshot has schema ${schema}, this server knows ${known}`);
    this.schema = schema;
  }
}

/** The schema that a state is written in: a newer one in which it is stored, else the one that the kind writes. */
export function writtenSchema({ schema, writes = schema }: ActorKind, entity: Entity): number {
  return Math.max(writes, entity.schema ?? 0);
}

/** Encodes an entity in the schema that its kind writes, or in the newer one in which it is stored. */
export function encodeSnapshot(kind: ActorKind, entity: Entity): Uint8Array {
  const written = writtenSchema(kind, entity);
  let { state } = entity;
  for (let schema = kind.schema; state !== null && schema > written; schema--) {
    const downcast = kind.downcast?.[schema];
    if (downcast === undefined) throw new Error(`no way from schema ${schema} back to ${schema - 1}`);
    state = downcast(state as never);
  }
  const marked = Object.keys(entity.marks).length > 0 ? { m: entity.marks } : {};
  const snapshot: Snapshot = { k: written, s: state, ...marked };
  return encodeStored(snapshot);
}
