import type { ComponentChildren } from 'preact';

/** The columns of a table; `cells` gives one cell for each. */
export type TableColumns<Row> = {
  caption: string;
  columns: readonly string[];
  cells: (row: Row) => ComponentChildren[];
  /** The text that a table without rows shows. */
  empty: string;
};

/** A table that becomes a list of cards where it is narrow. */
export function Table<Row>({ caption, columns, rows, cells, empty }: TableColumns<Row> & { rows: readonly Row[] }) {
  if (rows.length === 0) return <Nothing>{empty}</Nothing>;
  return (
    <table>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {cells(row).map((cell, column) => (
              <td key={columns[column]} data-label={columns[column]}>
                <span>{cell}</span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Nothing({ children }: { children: ComponentChildren }) {
  return <p class="nothing">{children}</p>;
}
