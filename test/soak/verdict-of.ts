import type { Answer } from './application-process.ts'
import type { Ask, Verdict } from './oracle.ts'
import { admitted } from './permitted-in.ts'
import { CALL, LOGOUT_ROUTE } from './routes.ts'

/** Refusals that no other credentials would mend. */
const UNCHALLENGED = ['ERR_AUTH_TENANT_SUSPENDED', 'ERR_AUTH_NOT_PERMITTED']

/** What an answer says, with what is wrong with its form. */
export function verdictOf({ route }: Ask, { status, headers, body }: Answer): Verdict {
  const content = Object(parsed(body))
  if (status === 200) return route === LOGOUT_ROUTE ? '200 logged out' : admitted(content)
  const { code = content.error } = content
  if (route === CALL) return `${status} ${code}`
  const isChallenged = (status === 401 || status === 403) && !UNCHALLENGED.includes(code)
  const flaws = [
    headers['cache-control'] === 'no-store' ? '' : 'without no-store',
    hasChallenge(headers['www-authenticate']) === isChallenged ? '' : 'the challenge is wrong',
    Number(headers['retry-after']) >= 1 === (status === 503) ? '' : 'Retry-After is wrong',
  ]
  return [`${status} ${code}`, ...flaws.filter((flaw) => flaw !== '')].join(', ')
}

/** Both schemes work. */
function hasChallenge(header: string | undefined): boolean {
  return header !== undefined && /\bBearer realm="api".*\bDPoP realm="api"/.test(header)
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
