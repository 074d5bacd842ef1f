import type { FastifyRequest } from 'fastify'
import { AuthError, ERR_AUTH_CHECK_UNAVAILABLE, ERR_AUTH_NOT_PERMITTED } from '../errors.ts'
import type { Authorization } from '../identity/authorization/authorization.ts'
import type { Check } from '../identity/authorization/requirement.ts'
import {
  CLOSED,
  callWithTimeout,
  type ReportFailure,
} from '../platform/callbacks/call-with-timeout.ts'
import { Line } from '../platform/callbacks/line.ts'
import { readBoolean } from '../platform/http/failure.ts'
import { isThrown, withoutStack } from '../platform/runtime/error.ts'
import type { AuthContext } from './context.ts'

/** Most calls of one check at one time. */
const MOST_OPEN = 64

/** The refusal of a request by a check: an error of ours that it has thrown. */
class Thrown {
  readonly error: AuthError

  constructor(error: AuthError) {
    this.error = error
  }
}

/** One check of the option `checks`, in all applications of a service. Its answers are not kept. */
class NamedCheck {
  readonly #name: string
  readonly #check: Check
  /** Seconds. */
  readonly #timeout: number
  readonly #report: ReportFailure
  readonly #line: Line

  constructor(name: string, check: Check, timeout: number, report: ReportFailure) {
    this.#name = name
    this.#check = check
    this.#timeout = timeout
    this.#report = report
    this.#line = new Line({ places: MOST_OPEN }, timeout)
  }

  /** Ends the wait of those that have no place. */
  close(): void {
    this.#line.end(CLOSED)
  }

  async refusalOf(context: AuthContext): Promise<AuthError | null> {
    const { authorization, request, rules } = context
    const refuse = (reason: string) => unavailable(`the check ${this.#name} ${reason}`)
    const answer = this.#line.enter<boolean | AuthError>({
      key: '',
      refuse,
      isWanted: () => !rules.waits.isOver,
      run: () =>
        callWithTimeout<boolean | AuthError>({
          timeout: this.#timeout,
          waits: rules.waits,
          refuse,
          report: this.#report,
          ask: () => this.#ask(authorization, request),
          read: (value) => (value instanceof Thrown ? value.error : readBoolean(value)),
        }),
    })
    const holds = await rules.waits.waitFor(answer, () => refuse(CLOSED))
    if (typeof holds !== 'boolean') return holds
    if (holds) return null
    return withoutStack(() => new ERR_AUTH_NOT_PERMITTED(`the check ${this.#name} does not hold`))
  }

  async #ask(authorization: Authorization | null, request: FastifyRequest): Promise<unknown> {
    try {
      const check = this.#check
      return await check(authorization, request)
    } catch (error) {
      // A refusal by `in()` or `require()` is the check's refusal. An error of boot is a failure.
      if (isThrown(error, AuthError) && error.statusCode !== 500) return new Thrown(error)
      throw error
    }
  }
}

export class Checks {
  readonly #checks: ReadonlyMap<string, NamedCheck>

  constructor(
    checks: Readonly<Record<string, Check>>,
    timeout: number,
    reportOf: (name: string) => ReportFailure,
  ) {
    this.#checks = new Map(
      Object.entries(checks).map(([name, check]) => [
        name,
        new NamedCheck(name, check, timeout, reportOf(name)),
      ]),
    )
  }

  close(): void {
    for (const check of this.#checks.values()) check.close()
  }

  /** The refusal of the first check that does not hold; null: all of them hold. */
  async refusalOf(context: AuthContext): Promise<AuthError | null> {
    try {
      for (const name of context.policy.checks ?? []) {
        const check = this.#checks.get(name)
        // The boot has excluded it.
        if (check === undefined) return unavailable(`there is no check ${name}`)
        const refusal = await check.refusalOf(context)
        if (refusal !== null) return refusal
      }
      return null
    } catch (error) {
      return isThrown(error, AuthError) ? error : unavailable('a check failed')
    }
  }
}

function unavailable(reason: string): AuthError {
  return withoutStack(() => new ERR_AUTH_CHECK_UNAVAILABLE(1, reason))
}
