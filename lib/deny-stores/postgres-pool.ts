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
  connect(): Promise<PostgresClient>
}

/** What is needed of a connection of its own. */
export interface PostgresClient {
  query(text: string): Promise<unknown>
  on(event: 'notification' | 'error' | 'end', listener: () => void): unknown
  /** @param destroy whether the connection is closed rather than used again */
  release(destroy?: boolean): void
}
