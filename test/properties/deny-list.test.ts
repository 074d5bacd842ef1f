import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DenyEntry, type DenyList, denyList } from '../../lib/entrypoints/revocation/index.ts'
import { tokenInfo } from '../../lib/identity/jwt/token-info.ts'
import type { TokenInfo } from '../../lib/index.ts'
import { holds } from '../helpers/arbitraries/property.ts'
import { expectUnspoiltPrototypes } from '../helpers/processes/unspoilt.ts'
import { EntryLog } from '../helpers/servers/entry-log.ts'
import { SECOND, stopClocks, tokenOf, verdictOf } from '../helpers/tokens/denied.ts'

expectUnspoiltPrototypes()

const NAMES = ['jti', 'sid', 'sub', 'issuer'] as const
const name = fc.constantFrom('a', 'b', '__proto__')
/** Seconds from now. */
const time = fc.integer({ min: -50, max: 150 })
const anyNames = fc.oneof(
  // Often the same, so that entries differ in their times alone.
  fc.constant<DenyEntry>({ sub: 'a' }),
  fc.record<DenyEntry>({ jti: name, sid: name, sub: name, issuer: name }, { requiredKeys: [] }),
)
const anyToken = fc.tuple(anyNames, fc.option(time, { nil: undefined }))

/** What may happen to an answer on its way. */
const FATES = ['whole', 'overlaps', 'repeated', 'reversed', 'lost', 'broken', 'bad entry'] as const

const anyStep = fc.oneof(
  fc.record({
    does: fc.constant('add' as const),
    who: fc.nat(1),
    names: anyNames.filter((names) => Object.keys(names).length > 0),
    issuedBefore: fc.option(time, { nil: undefined }),
    until: fc.integer({ min: 1, max: 150 }),
  }),
  fc.record({
    does: fc.constant('pull' as const),
    who: fc.nat(1),
    fate: fc.constantFrom(...FATES),
    overlap: fc.nat(5),
  }),
  fc.record({ does: fc.constant('move' as const), seconds: fc.nat(40) }),
  fc.record({ does: fc.constant('ask' as const), token: anyToken }),
)

/** One process: its list, and what it must know of a plain list that all processes share. */
interface Process {
  readonly list: DenyList
  readonly log: EntryLog
  readonly own: DenyEntry[]
  pulled: number
  currentAt: number
}

for (const maxEntries of [1000, 3]) {
  test(`a deny list of ${maxEntries} entries decides as a plain list does, whatever its answers suffer`, async (t) => {
    stopClocks(t)
    await holds(
      t,
      fc.asyncProperty(fc.array(anyStep, { maxLength: 40, size: 'max' }), async (steps) => {
        const all: DenyEntry[] = []
        const processes = [0, 1].map(() => openProcess(all, maxEntries))
        for (const step of steps) {
          if (step.does === 'move') t.mock.timers.tick(step.seconds * SECOND)
          else if (step.does === 'ask') {
            for (const process of processes) compare(process, all, step.token, maxEntries)
          } else {
            const process = processes[step.who] ?? assert.fail('there are two')
            if (step.does === 'add') await add(process, all, step)
            else await pull(process, step)
          }
        }
      }),
    )
  })
}

function openProcess(all: DenyEntry[], maxEntries: number): Process {
  const log = new EntryLog()
  const append: EntryLog['append'] = async (entry) => {
    all.push(entry)
  }
  Object.defineProperty(log, 'entries', { value: all })
  const list = denyList({ changes: log.changes, append, maxEntries })
  return { list, log, own: [], pulled: 0, currentAt: Number.NEGATIVE_INFINITY }
}

interface Added {
  readonly names: DenyEntry
  readonly issuedBefore: number | undefined
  readonly until: number
}

async function add(process: Process, all: DenyEntry[], added: Added): Promise<void> {
  const entry = {
    ...added.names,
    ...(added.issuedBefore !== undefined && { issuedBefore: fromNow(added.issuedBefore) }),
    until: fromNow(added.until),
  }
  await process.list.add(entry)
  process.own.push(entry)
  assert.deepEqual(all.at(-1), entry)
}

async function pull(
  process: Process,
  { fate, overlap }: { fate: (typeof FATES)[number]; overlap: number },
): Promise<void> {
  const { list, log } = process
  log.onAnswer = ({ entries, cursor }) => {
    const from = Math.max(0, cursor - entries.length - overlap)
    if (fate === 'lost') throw new Error('on purpose')
    if (fate === 'broken') return { entries }
    if (fate === 'bad entry') return { entries: [{}, ...entries], cursor }
    if (fate === 'overlaps') return { entries: log.entries.slice(from), cursor }
    if (fate === 'repeated') return { entries: [...entries, ...entries], cursor }
    return { entries: fate === 'reversed' ? entries.toReversed() : entries, cursor }
  }
  const isGood = !['lost', 'broken', 'bad entry'].includes(fate)
  await (isGood ? list.ready() : assert.rejects(list.ready()))
  if (!isGood) return
  process.pulled = log.entries.length
  process.currentAt = Date.now()
}

function compare(
  { list, own, pulled, currentAt }: Process,
  all: readonly DenyEntry[],
  [names, age]: [DenyEntry, number | undefined],
  maxEntries: number,
): void {
  const none = { jti: null, sid: null, sub: null, issuer: null }
  const issuedAt = age === undefined ? null : fromNow(-age)
  const claims = tokenOf({ ...none, ...names, issuedAt, expiresAt: fromNow(100) })
  // A JWT has its age.
  const token = issuedAt === null ? opaqueToken(claims) : claims
  const fits = (entry: DenyEntry) =>
    Number(entry.until) > Date.now() &&
    NAMES.every((each) => entry[each] === undefined || entry[each] === token[each]) &&
    (entry.issuedBefore === undefined || issuedAt === null || issuedAt < entry.issuedBefore)
  const must = [...all.slice(0, pulled), ...own].some(fits)
  const may = all.some(fits)
  const isStale = Date.now() - currentAt > 60 * SECOND
  const verdict = verdictOf(list, token)
  if (must) assert.notEqual(verdict, false)
  if (must && maxEntries > all.length) assert.equal(verdict, true)
  if (!may) assert.notEqual(verdict, true)
  if (isStale) assert.notEqual(verdict, false)
  else if (!must && !may && maxEntries > all.length) assert.equal(verdict, false)
}

function opaqueToken({ issuer, sub, jti, sid, expiresAt }: TokenInfo): TokenInfo {
  const lifetime = { iat: undefined, nbf: undefined, exp: Number(expiresAt) / SECOND }
  return tokenInfo({ issuer, sub, jti, sid }, lifetime, true)
}

function fromNow(seconds: number): Date {
  return new Date(Date.now() + seconds * SECOND)
}
