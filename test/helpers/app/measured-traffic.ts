import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { parse } from 'yaml'
import { denyList } from '../../../lib/entrypoints/revocation/index.ts'
import { createTestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import { measuredApp } from '../../examples/metrics.ts'

export const ALERTS = '.github/dashboards/alerts.yaml'

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly { alert: string; expr: string }[] }[]
}

const dashboard: Dashboard = JSON.parse(readFileSync('.github/dashboards/grafana.json', 'utf8'))
const alerts: Rules = parse(readFileSync(ALERTS, 'utf8'))

/** The rules of the alerts. */
export const RULES = alerts.groups.flatMap(({ rules }) => rules)

/** What the panels of the dashboard ask, with its variables as Grafana fills them in. */
export const QUERIES = dashboard.panels
  .flatMap(({ targets }) => targets.map(({ expr }) => expr))
  .map((expr) => expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '30s'))

/** The application of the example, and requests that it decides in each way. */
export async function measuredTraffic(t: TestContext) {
  const authority = await createTestAuthority()
  t.after(() => authority.close())
  const { issuer, audience } = authority
  const app = await measuredApp({
    issuer,
    audience,
    publicKeysUrl: await authority.listen(),
    isRevoked: denyList({ changes: () => ({ entries: [], cursor: 0 }), append: () => {} }),
    tenants: (tenant) => {
      if (tenant === 'odd') throw new Error('on purpose')
      return true
    },
  })
  t.after(() => app.close())
  await app.ready()
  await app.authService.refreshKeys()
  const user = { sub: 'dora', resources: { 'lazy-raccoon': [], odd: [] } }
  const headers = await authority.headers(user)
  const unknown = await authority.headers(user, { header: { kid: 'other' } })
  const send = async () => {
    await app.inject({ url: '/lazy-raccoon/menu', headers })
    await app.inject({ url: '/lazy-raccoon/menu', headers: unknown })
    await app.inject({ url: '/busy-beaver/menu', headers })
    await app.inject({ url: '/odd/menu', headers })
    for (const _ of [1, 2]) await app.inject('/lazy-raccoon/menu')
  }
  return { app, send }
}
