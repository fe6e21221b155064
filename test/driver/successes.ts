/** How many operations of each kind have come to something. */
export class Successes<Kind extends string = string> {
  readonly by_kind: { [kind in Kind]?: number } = {};

  get total(): number {
    return Object.values<number | undefined>(this.by_kind).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  }

  count(kind: Kind): number {
    return this.by_kind[kind] ?? 0;
  }

  add(kind: Kind, times = 1): void {
    this.by_kind[kind] = this.count(kind) + times;
  }

  addAll({ by_kind }: Successes<Kind>): void {
    for (const [kind, times] of Object.entries(by_kind) as [Kind, number][]) this.add(kind, times);
  }

  /** Those of these kinds that came to something less often: a run in which one always fails proves nothing of it. */
  rare(kinds: readonly Kind[], least = 1): Kind[] {
    return kinds.filter((kind) => this.count(kind) < least);
  }
}
