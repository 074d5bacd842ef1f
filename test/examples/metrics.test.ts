import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { measuredTraffic, QUERIES, RULES } from '../helpers/app/measured-traffic.ts'
import { measuredApp } from './metrics.ts'

test('decisions and documents are metrics, and no tenant or user is a label', async (t) => {
  const { app, send } = await measuredTraffic(t)
  await send()
  const read = async () => (await app.inject('/metrics')).body.split('\n')
  await read()
  // Read twice: what is collected is the number of now, and not added to the number before.
  const lines = await read()
  assert.deepEqual(lines.filter((line) => /^auth_.*_(?:total|size)/.test(line)).toSorted(), [
    'auth_decisions_total{code="ERR_AUTH_TENANTS_UNAVAILABLE"} 1',
    'auth_decisions_total{code="ERR_AUTH_TENANT_FORBIDDEN"} 1',
    'auth_decisions_total{code="ERR_AUTH_TOKEN_INVALID"} 1',
    'auth_decisions_total{code="ERR_AUTH_TOKEN_MISSING"} 2',
    'auth_decisions_total{code="none"} 1',
    'auth_token_cache_size 1',
    'auth_token_cache_total{event="evictions"} 0',
    'auth_token_cache_total{event="hits"} 2',
    'auth_token_cache_total{event="misses"} 2',
    'auth_unknown_kid_total 1',
  ])
  const age = lines.find((line) => line.startsWith('auth_document_age_seconds'))
  assert.match(age ?? '', /^auth_document_age_seconds\{kind="keys",name="authority.test"\} \d/)
  const text = lines.join('\n')
  assert.equal(text.includes('dora') || text.includes('lazy-raccoon'), false)
  assert.match(text, /http_request_duration_seconds_count\{[^}]*route="\/:tenant\/menu"/)
})

test('keys that are given in code raise no alert about their age', async (t) => {
  const { options } = await createTestAuthority()
  const app = await measuredApp(options)
  t.after(() => app.close())
  const lines = (await app.inject('/metrics')).body.split('\n')
  assert.deepEqual(
    lines.filter((line) => line.startsWith('auth_document_age_seconds{')),
    ['auth_document_age_seconds{kind="keys",name="authority.test"} 0'],
  )
})

const SELECTOR = /\b(auth_\w+)(?:\{([^}]*)\})?/g
const MATCHER = /(\w+)(=~|!=|=)"([^"]*)"/g

/** Whether a sample has the labels that a selector asks for. Prometheus itself adds `instance`. */
function isSelected(sample: string, matchers: string): boolean {
  const labels = new Map([['instance', 'x']])
  for (const [, name = '', , value = ''] of sample.matchAll(MATCHER)) labels.set(name, value)
  return [...matchers.matchAll(MATCHER)].every(([, name = '', operator, value = '']) => {
    const found = labels.get(name)
    if (found === undefined) return false
    if (operator === '=~') return new RegExp(`^(?:${value})$`).test(found)
    return (found === value) === (operator === '=')
  })
}

test('each metric and label of the dashboard and the alerts is in the text of the example', async (t) => {
  const { app, send } = await measuredTraffic(t)
  await send()
  const samples = (await app.inject('/metrics')).body.split('\n')
  const names = new Set<string>()
  for (const query of [...QUERIES, ...RULES.map(({ expr }) => expr)]) {
    for (const [selector, name = '', matchers = ''] of query.matchAll(SELECTOR)) {
      names.add(name)
      const own = samples.filter((sample) => sample.split(/[{ ]/)[0] === name)
      assert.ok(
        own.some((sample) => isSelected(sample, matchers)),
        `${selector} in ${query}`,
      )
    }
  }
  assert.deepEqual(
    [...names].toSorted(),
    [...new Set(samples.flatMap((sample) => /^auth_\w+/.exec(sample) ?? []))].toSorted(),
  )
})
