/** What is needed of a pool of the package pg. */
export interface PostgresPool {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
  connect(): Promise<PostgresClient>
}

/** What is needed of a connection of its own. */
export interface PostgresClient {
  query(text: string): Promise<unknown>
  on(event: 'notification' | 'error' | 'end', listener: () => void): unknown
  /** @param destroy whether the connection is closed rather than used again */
  release(destroy?: boolean): void
}
