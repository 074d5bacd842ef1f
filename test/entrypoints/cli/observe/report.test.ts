import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Observation,
  observedMatrix,
  readReports,
  reportWriter,
} from '../../../../lib/entrypoints/cli/observe/report.ts'
import { listed } from '../../../helpers/app/listed.ts'
import { tempFolder } from '../../../helpers/documents/temp-folder.ts'
import { guarded, reportOf } from '../../../helpers/processes/reporting-program.ts'

const folder = tempFolder()
const MENU = [listed('/menu')]
const ADMIN = [listed('/admin')]

function observed(reports: Observation['reports'], more: Partial<Observation> = {}): Observation {
  return { exitCode: 0, signal: null, passedOn: undefined, isLate: false, reports, ...more }
}

const ANY = { least: 0, count: 0 }

const urls = (given: Observation): string[][] =>
  observedMatrix(given, ANY).matrix.applications.map(({ routes }) => routes.map(({ url }) => url))

test('the applications of one process stand in the order in which they were made', () => {
  const reports = [
    reportOf({ made: 2, listened: 2, applications: [guarded(MENU), guarded(ADMIN)] }),
  ]
  assert.deepEqual(urls(observed(reports)), [['/menu'], ['/admin']])
})

test('processes that run the same count once, in an order that does not depend on time', () => {
  const [menu, admin] = [
    reportOf({ applications: [guarded(MENU)] }),
    reportOf({ applications: [guarded(ADMIN)] }),
  ]
  assert.deepEqual(urls(observed([menu, admin, menu])), [['/admin'], ['/menu']])
  assert.deepEqual(urls(observed([admin, menu])), [['/admin'], ['/menu']])
})

test('processes that write the same routes in another order run the same', () => {
  const versions = ['1.0.0', '2.0.0'].map((version) =>
    listed('/menu', { constraints: { version, host: 'a.test' } }),
  )
  const routes = [...MENU, ...ADMIN, ...versions]
  for (const each of [routes, routes.toReversed()]) {
    reportWriter(folder.path)(reportOf({ applications: [guarded(each)] }))
  }
  const found = urls(observed(readReports(folder.path)))
  assert.deepEqual(found, [['/admin', '/menu', '/menu', '/menu']])
})

test('two applications of one process count as two, even if their routes are the same', () => {
  const reports = [reportOf({ made: 2, listened: 2, applications: [guarded(MENU), guarded(MENU)] })]
  assert.deepEqual(urls(observed(reports)), [['/menu'], ['/menu']])
})

const UNSEEN =
  'a process with NODE_OPTIONS or an environment of its own is not seen, and does listen'
const IN_TIME = 'within the time limit; --timeout gives it more'

test('places outside of the guards stay with their application, of all processes that run it', () => {
  const at = (url: string) => ({ method: 'GET', url })
  const first = reportOf({
    applications: [guarded(MENU), guarded(ADMIN, [at('/a')])],
    unguarded: [[at('/m')], [at('/n')]],
  })
  const second = reportOf({ applications: [guarded(MENU, [at('/b')]), guarded(ADMIN)] })
  const other = reportOf({ applications: [guarded(ADMIN, [at('/c')])] })
  const { matrix, uncovered } = observedMatrix(observed([first, other, second]), ANY)
  const found = matrix.applications.map(({ routes }) => routes.map(({ url }) => url))
  assert.deepEqual(found, [['/admin'], ['/menu'], ['/admin']])
  assert.deepEqual(uncovered, {
    beside: [[at('/c')], [at('/b')], [at('/a')]],
    unguarded: [at('/m'), at('/n')],
  })
})

/** Programs that stay until the time limit, although all is known of what has come. */
const IN_VAIN: readonly [what: string, reports: Observation['reports'], count: number][] = [
  [
    'fewer applications have come than are waited for',
    [reportOf({ exitCode: undefined, applications: [guarded(MENU)] })],
    2,
  ],
  [
    'a process without a guard makes none',
    [reportOf({ applications: [guarded(MENU)] }), reportOf({ exitCode: undefined })],
    0,
  ],
]

for (const [what, reports, count] of IN_VAIN) {
  test(`where ${what} until the time limit, the matrix is what there is`, () => {
    const given = observed(reports, { exitCode: null, isLate: true })
    const { matrix } = observedMatrix(given, { least: 0, count })
    assert.equal(matrix.applications.length, 1)
    const [first, ...others] = reports
    const busy = [{ ...first, exitCode: undefined, awaited: 1 }, ...others].map(reportOf)
    assert.throws(() => observedMatrix({ ...given, reports: busy }, { least: 0, count }), {
      message: `one of the Fastify instances neither listened nor became ready ${IN_TIME}`,
    })
  })
}

test('fewer applications than there should be are an error', () => {
  const expected = { least: 2, count: 2 }
  for (const [isLate, end] of [
    [true, IN_TIME],
    [false, 'before it ended'],
  ] as const) {
    assert.throws(() => observedMatrix(observed([GOOD], { isLate }), expected), {
      message: `1 of 2 guarded applications listened ${end}; ${UNSEEN}`,
    })
  }
})

const RUN = 'run the command of the copy in its node_modules, and the application unbundled'
const NOT_KNOWN = `which it covers: the application has loaded another copy of fastify-tenant-auth than this command, after Fastify had made the application; import it earlier, or ${RUN}`

const GOOD = reportOf({ applications: [guarded(MENU)] })

const FAILURES: readonly [what: string, given: Observation, message: string][] = [
  [
    'that ends with another exit code than 0',
    observed([GOOD], { exitCode: 3 }),
    'the application ended with exit code 3',
  ],
  [
    'that a signal ends',
    observed([GOOD], { exitCode: null, signal: 'SIGSEGV' }),
    'the application was ended by SIGSEGV',
  ],
  [
    'one of whose processes fails',
    observed([GOOD, reportOf({ exitCode: 1 })], { exitCode: null }),
    'a process of the application has failed',
  ],
  [
    'one of whose processes is killed',
    observed([GOOD, reportOf({ exitCode: null })]),
    'a process of the application has failed',
  ],
  [
    'without Fastify',
    observed([]),
    `the application made no Fastify instance before it ended; ${UNSEEN}`,
  ],
  [
    'without Fastify that stays',
    observed([], { exitCode: null, isLate: true }),
    `the application made no Fastify instance ${IN_TIME}; ${UNSEEN}`,
  ],
  [
    'that does not listen',
    observed([reportOf({ listened: 0, silent: 1, awaited: 1 })]),
    'the application did not listen before it ended',
  ],
  [
    'of which one guarded instance does not listen',
    observed([reportOf({ made: 2, silent: 1, applications: [guarded(MENU)] })]),
    'one of the guarded Fastify instances did not listen before it ended',
  ],
  [
    'without a guard',
    observed([reportOf()], { exitCode: null, isLate: true }),
    `no Fastify instance that has the plugin listened ${IN_TIME}; ${UNSEEN}`,
  ],
  [
    'with a guard that shows no settings',
    observed([GOOD, reportOf({ applications: [guarded([])], isForeign: true })]),
    `the application has another copy of fastify-tenant-auth than this command, which does not show its settings: ${RUN}`,
  ],
  [
    'with a guard that lists one route less',
    observed([reportOf({ applications: [guarded([])], unlisted: MENU })]),
    `a guard does not know GET /menu, ${NOT_KNOWN}`,
  ],
  [
    'with a guard that lists two routes less',
    observed([reportOf({ applications: [guarded([])], unlisted: [...ADMIN, ...MENU] })]),
    `a guard does not know GET /admin and 1 more, ${NOT_KNOWN}`,
  ],
  [
    'of which one instance is never ready',
    observed(
      [reportOf({ made: 2, awaited: 1, exitCode: undefined, applications: [guarded(MENU)] })],
      {
        isLate: true,
      },
    ),
    `one of the Fastify instances neither listened nor became ready ${IN_TIME}`,
  ],
]

for (const [what, given, message] of FAILURES) {
  test(`an application ${what} has no matrix, and the message says why`, () => {
    assert.throws(() => observedMatrix(given, ANY), { name: 'Error', message })
  })
}
