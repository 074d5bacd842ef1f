import { randomUUID } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import type { PostgresPool } from '../../../lib/entrypoints/revocation/index.ts'

/** Without the files that are kept. */
const create: (options?: PGliteOptions) => Promise<PGlite> = PGlite.create.bind(PGlite)

/**
 * A PostgreSQL in this process, empty. To make the files of an empty one takes longer than all that
 * a test does with it, so they are kept for the tests to come.
 */
export async function embeddedDatabase(options: PGliteOptions = {}): Promise<PGlite> {
  return create({ ...options, loadDataDir: await emptyFiles() })
}

async function emptyFiles(): Promise<Blob> {
  const installed = createRequire(import.meta.url).resolve('@electric-sql/pglite')
  const { version } = JSON.parse(await readFile(join(installed, '../../package.json'), 'utf8'))
  const path = join(tmpdir(), `empty-pglite-${version}.tar`)
  const kept = await readFile(path).catch(() => null)
  if (kept !== null) return new Blob([new Uint8Array(kept)])
  const database = await create()
  const made = await database.dumpDataDir('none')
  await database.close()
  // Tests of other processes may read it, or write it too.
  const own = `${path}-${randomUUID()}`
  await writeFile(own, Buffer.from(await made.arrayBuffer()))
  await rename(own, path)
  return made
}

/** A pool of the package pg, as far as a deny list needs one, to a PostgreSQL in this process. */
export async function embeddedPool() {
  const db = await embeddedDatabase()
  const pool: PostgresPool = { query: ({ text, values }) => db.query(text, values) }
  return { pool, db }
}
