/** One statement for a pool of the package pg. */
export interface PostgresQuestion {
  readonly text: string
  readonly values: unknown[]
  /**
   * Milliseconds. A connection whose answer is late is closed, so that connections to a server that
   * is out of reach do not take up the whole pool for good.
   */
  readonly query_timeout: number
}

/** What is needed of a pool of the package pg. */
export interface PostgresPool {
  query(question: PostgresQuestion): Promise<{ readonly rows: readonly unknown[] }>
}
