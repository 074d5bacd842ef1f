/** What a server's answer begins with where it refuses a command. */
const CODES = new Set([
  ...['ERR', 'NOAUTH', 'NOPERM', 'WRONGPASS', 'WRONGTYPE', 'READONLY', 'OOM', 'LOADING'],
  ...['MISCONF', 'NOREPLICAS', 'MASTERDOWN', 'CLUSTERDOWN', 'CROSSSLOT', 'MOVED', 'ASK'],
  ...['TRYAGAIN', 'BUSY', 'UNBLOCKED'],
])

/** A server refused a command. Its words are not repeated: they may hold what was sent. */
export class RedisFailure extends Error {
  readonly code: string

  constructor(code: string) {
    super('the server refused a command')
    this.code = code
  }
}

/** What a client threw, or the code that a server's words begin with. */
export function redisFailure(error: unknown): unknown {
  const [code = ''] = messageOf(error).split(' ', 1)
  return CODES.has(code) ? new RedisFailure(code) : error
}

/** Empty if it has none that can be read. */
function messageOf(error: unknown): string {
  try {
    return String(Object(error).message)
  } catch {
    return ''
  }
}
