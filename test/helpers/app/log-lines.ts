import type { FastifyServerOptions } from 'fastify'

export interface LogLine {
  readonly level: number
  readonly msg: string
  readonly [key: string]: unknown
}

export interface LogLines {
  /** For Fastify's options. */
  readonly logger: NonNullable<FastifyServerOptions['logger']>
  /** Every line as it was written. */
  readonly raw: string[]
  /** The messages of one level, `40` for warnings. */
  messages(level: number): string[]
  /** The lines with one message. */
  lines(message: string): LogLine[]
}

/** A logger that keeps all its lines from a level on. */
export function logLines(level = 'trace'): LogLines {
  const raw: string[] = []
  const parsed = (): LogLine[] => raw.map((line): LogLine => JSON.parse(line))
  return {
    logger: { level, stream: { write: (line: string) => void raw.push(line) } },
    raw,
    messages: (level) =>
      parsed()
        .filter((line) => line.level === level)
        .map(({ msg }) => msg),
    lines: (message) => parsed().filter(({ msg }) => msg.includes(message)),
  }
}

/** A line of the log without what the debug level adds: the one unexpected value of a token. */
export function undetailed(line: string): string {
  const { mismatch: _, ...rest } = JSON.parse(line)
  return JSON.stringify(rest)
}
