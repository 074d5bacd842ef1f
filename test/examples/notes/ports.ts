const HIGHEST = 65_535

/** The port in a variable of the environment. */
export function portOf(variable: string, fallback: number): number {
  const text = process.env[variable] ?? String(fallback)
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= HIGHEST) return port
  throw new Error(`${variable} must be a port from 0 to ${HIGHEST}, not ${JSON.stringify(text)}.`)
}

/** Listens. If the port is taken, one line says how to go on. */
export async function listenOn<T>(
  variable: string,
  port: number,
  listen: () => Promise<T>,
): Promise<T> {
  try {
    return await listen()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    const cure = `Free it, or choose another with ${variable} (0: any free one).`
    throw new Error(`Port ${port} of 127.0.0.1 is in use. ${cure}`, { cause: error })
  }
}
