import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { stringify } from 'yaml'
import { ALERTS, measuredTraffic, QUERIES, RULES } from '../helpers/app/measured-traffic.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { missing } from '../helpers/servers/commands.ts'
import { freePort, OwnServer, serverFolder } from '../helpers/servers/own-server.ts'

const skip = missing('prometheus', 'promtool', 'pg_ctl')
const folder = tempFolder()

interface Answer {
  readonly status: string
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] }
}

async function startPrometheus(t: TestContext, target: string): Promise<string> {
  const config = folder.write(
    stringify({
      global: { scrape_interval: '200ms', evaluation_interval: '200ms' },
      scrape_configs: [{ job_name: 'app', static_configs: [{ targets: [target] }] }],
    }),
  )
  // The server runs as another user.
  execFileSync('chmod', ['-R', 'a+rX', folder.path])
  const own = serverFolder()
  const address = `127.0.0.1:${await freePort()}`
  const server = new OwnServer(own, {
    command: 'prometheus',
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${own}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    ask: async () => {
      const { ok } = await fetch(`http://${address}/-/ready`)
      if (!ok) throw new Error('not ready')
    },
  })
  t.after(() => server.close())
  await server.start()
  return `http://${address}`
}

test('each query of the dashboard has an answer from a Prometheus that reads the example', {
  skip,
}, async (t) => {
  const { app, send } = await measuredTraffic(t)
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const prometheus = await startPrometheus(t, new URL(address).host)
  const left = new Set(QUERIES)
  const end = performance.now() + 30_000
  while (left.size > 0) {
    assert.ok(performance.now() < end, `no answer to ${[...left].join('\n')}`)
    await send()
    await setTimeout(100)
    for (const query of left) {
      const response = await fetch(`${prometheus}/api/v1/query?${new URLSearchParams({ query })}`)
      const { status, data } = (await response.json()) as Answer
      assert.equal(status, 'success', query)
      if (data.result.some(({ value: [, text] }) => text !== 'NaN')) left.delete(query)
    }
  }
})

/** The samples of one minute each, and the alerts of the tenth. */
const CASES: readonly [what: string, samples: Record<string, string>, alerts: readonly string[]][] =
  [
    [
      'all is well',
      {
        'auth_decisions_total{code="none"}': '0+600x20',
        'auth_decisions_total{code="ERR_AUTH_TOKEN_INVALID"}': '0+60x20',
        'auth_document_age_seconds{kind="keys",name="a"}': '300+0x20',
        'auth_document_age_seconds{kind="denyList",name="b"}': '1+0x20',
        auth_unknown_kid_total: '0+1x20',
      },
      [],
    ],
    [
      'keys grow old',
      { 'auth_document_age_seconds{kind="keys",name="a"}': '300+60x20' },
      ['TenantAuthDocumentIsOld'],
    ],
    [
      'there is no deny list',
      { 'auth_document_age_seconds{kind="denyList",name="b"}': 'Inf+0x20' },
      ['TenantAuthDocumentIsOld'],
    ],
    [
      'a document cannot be had',
      { 'auth_decisions_total{code="ERR_AUTH_KEYS_UNAVAILABLE"}': '0+60x20' },
      ['TenantAuthCannotDecide'],
    ],
    [
      'tokens are refused',
      {
        'auth_decisions_total{code="none"}': '0+60x20',
        'auth_decisions_total{code="ERR_AUTH_TOKEN_INVALID"}': '0+60x20',
      },
      ['TenantAuthManyTokensRefused'],
    ],
    ['keys are unknown', { auth_unknown_kid_total: '0+60x20' }, ['TenantAuthUnknownKeys']],
  ]

for (const [what, samples, alerts] of CASES) {
  test(`where ${what}, the alerts are: ${alerts.join(', ') || 'none'}`, { skip }, () => {
    const alertTests = RULES.map(({ alert }) => alert)
    const series = Object.entries(samples).map(([series, values]) => ({ series, values }))
    const firing = (alert: string) => `count(ALERTS{alertname="${alert}",alertstate="firing"}) > 0`
    const file = folder.write(
      stringify({
        rule_files: [resolve(ALERTS)],
        evaluation_interval: '1m',
        tests: [
          {
            interval: '1m',
            input_series: series,
            promql_expr_test: alertTests.map((alert) => ({
              expr: firing(alert),
              eval_time: '18m',
              exp_samples: alerts.includes(alert) ? [{ value: 1, labels: '{}' }] : [],
            })),
          },
        ],
      }),
    )
    execFileSync('promtool', ['test', 'rules', file], { stdio: 'pipe' })
  })
}

test('promtool takes the four rules', { skip }, () => {
  const said = execFileSync('promtool', ['check', 'rules', ALERTS], { encoding: 'utf8' })
  assert.match(said, /SUCCESS: 4 rules found/)
})
