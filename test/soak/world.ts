import { AnswerHistory } from './answer-history.ts'
import { History, Outages } from './history.ts'
import { KeyHistory, type Kids } from './key-history.ts'
import { Revocations } from './revocations.ts'
import { TIMES, UNKNOWN_FOR } from './settings.ts'
import { Stalls } from './stalls.ts'
import type { Claims, Resources } from './token.ts'

/** Whether a tenant exists. */
export type TenantState = boolean | 'suspended'

/**
 * Where the rights of a user come from. A process that asks the application for them lets suspended
 * tenants read, takes tenants from bodies, and has its seen proofs in the store.
 */
export type RightsFrom = 'claims' | 'application'

/** An issuer that all applications trust. */
export interface TrustedIssuer {
  readonly issuer: string
  /** The tenants that it may speak for; `*`: every one. */
  readonly tenants: '*' | readonly string[]
  readonly outages: Outages
  /** What it publishes. */
  readonly published: History<Kids>
  /** What each process was served. */
  readonly served: readonly KeyHistory[]
}

/** What is true of one process of the application. */
export interface ProcessWorld {
  readonly rightsFrom: RightsFrom
  /** Milliseconds by which its wall clock was set. */
  readonly clock: History<number>
  readonly tenants: AnswerHistory<TenantState>
  /** By issuer and `sub`. */
  readonly rights: AnswerHistory<Resources | null>
  /** By the token's text. */
  readonly opaque: AnswerHistory<Claims | null>
  readonly stalls: Stalls
}

/** Everything that decides verdicts, and when it was so. The oracle knows nothing else. */
export class World {
  readonly processes: readonly ProcessWorld[]
  readonly issuers = new Map<string, TrustedIssuer>()
  readonly store = new Outages()
  readonly revocations = new Revocations(this.store)

  constructor(processes: readonly RightsFrom[]) {
    this.processes = processes.map((rightsFrom) => ({
      rightsFrom,
      clock: new History(0),
      tenants: new AnswerHistory<TenantState>(false, (state) =>
        state === false ? 0 : TIMES.tenantsMaxAge,
      ),
      rights: new AnswerHistory<Resources | null>(null, (rights) =>
        rights === null ? UNKNOWN_FOR : TIMES.resourcesMaxAge,
      ),
      opaque: new AnswerHistory<Claims | null>(null, (claims) =>
        claims === null ? UNKNOWN_FOR : TIMES.opaqueMaxAge,
      ),
      stalls: new Stalls(),
    }))
  }

  trust(issuer: string, tenants: '*' | readonly string[], kids: Kids): TrustedIssuer {
    const outages = new Outages()
    const trusted = {
      issuer,
      tenants,
      outages,
      published: new History(kids),
      served: this.processes.map(() => new KeyHistory(outages)),
    }
    this.issuers.set(issuer, trusted)
    return trusted
  }

  /** The name of a user where rights are asked for. */
  static userKey({ issuer, sub }: { readonly issuer: string; readonly sub: string }): string {
    return JSON.stringify([issuer, sub])
  }

  /** Lets go what decides nothing any more. */
  sweep(): void {
    for (const { rights, opaque } of this.processes) {
      rights.sweep()
      opaque.sweep()
    }
  }
}
