import type { Answer } from './application-process.ts'
import type { Verdict } from './oracle.ts'
import { admitted } from './permitted-in.ts'

/** What an answer says, with what is wrong with its form. */
export function verdictOf({ status, headers, body }: Answer): Verdict {
  const told = Object(parsed(body))
  if (status === 200) return admitted(told)
  const flaws = [
    headers['cache-control'] === 'no-store' ? '' : 'without no-store',
    hasChallenge(headers['www-authenticate']) === (status === 401 || status === 403)
      ? ''
      : 'the challenge is wrong',
    Number(headers['retry-after']) >= 1 === (status === 503) ? '' : 'Retry-After is wrong',
  ]
  return [`${status} ${told.code}`, ...flaws.filter((flaw) => flaw !== '')].join(', ')
}

function hasChallenge(header: string | undefined): boolean {
  return header?.startsWith('Bearer realm="api"') === true
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
