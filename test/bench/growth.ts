import { parseArgs } from 'node:util'
import tenantAuth from 'fastify-tenant-auth'
import { denyList, proofTable } from 'fastify-tenant-auth/revocation'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { printBoot } from './growth/boot.ts'
import { printColdStart } from './growth/fresh-process.ts'
import { runRows } from './growth/measure.ts'
import { rowsOf } from './growth/rows.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 60)

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const authority = await createTestAuthority({ algorithm: 'ES256' })
const setup = { tenantAuth, denyList, proofTable, authority, tokens: 1_000 }
const rows = rowsOf(setup)
const names = ['boot', 'cold-start', ...rows.map(({ name }) => name)]
const only = values.only?.split(',')
const unknown = only?.find((name) => !names.includes(name))
if (unknown !== undefined) throw new Error(`--only is some of ${names.join(', ')}, not ${unknown}`)
const isChosen = (name: string) => only?.includes(name) ?? true

const chosen = rows.filter(({ name }) => isChosen(name))
const notFlat = await runRows(chosen, { rounds: ROUNDS, slice: 3_000 }, console.log)
if (isChosen('cold-start')) await printColdStart(setup, console.log)
if (isChosen('boot')) await printBoot(authority.options, console.log)
for (const what of notFlat) console.error(`NOT flat: ${what}`)
if (notFlat.length > 0) process.exitCode = 1
