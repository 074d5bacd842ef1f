import { PGlite } from '@electric-sql/pglite'
import { embeddedDatabase } from './embedded-database.ts'

// For programs that make an embedded PostgreSQL of their own, as a reader would. Theirs is as empty,
// and its files are those that are kept.
Object.assign(PGlite, { create: embeddedDatabase })
