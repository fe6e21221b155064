const GAP = '  ';

/** Rows as lines, each column as wide as its longest cell. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
      .join(GAP)
      .trimEnd(),
  );
}

function widthOf(cell: string): number {
  return [...cell].length;
}
