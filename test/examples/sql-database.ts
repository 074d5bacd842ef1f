/** As much of a database as the examples need. A Pool of pg has it, and so has PGlite. */
export interface SqlDatabase {
  query<Row extends object>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>
}
