import { entryPointOptions } from '../../../config/option-reader.ts'
import { CodeSwitch, Custom, TextThat } from '../../../config/option-types.ts'
import { isObject } from '../../../platform/runtime/own-property.ts'
import { type DenyList, denyListFunction } from '../deny-list.ts'
import { checkRules, type DenyListRules, RULES } from '../deny-list-options.ts'
import { type PostgresPool, tableSource } from './table-source.ts'

/** The table, and the rules of the list. */
export interface PostgresDenyListOptions extends Partial<DenyListRules> {
  /**
   * A pool of the package pg, for PostgreSQL 13 or newer; one connection is enough. Give it
   * `connectionTimeoutMillis`, or connections that are never made take up the pool; and a listener
   * of `error`, or an idle connection that is lost ends the process.
   */
  readonly pool: PostgresPool
  /**
   * Name of the table, with its schema if that is not on the search path: lower case letters,
   * digits and underscores, 63 characters at most. @default 'tenant_auth_revocations'
   */
  readonly table?: string
  /** Creates the table if it is absent. @default false */
  readonly createTable?: boolean
}

const MEMBERS = {
  pool: Custom('a pool of the package pg', isPool),
  table: TextThat('a lower-case SQL identifier of at most 63 characters', isTableName, {
    default: 'tenant_auth_revocations',
  }),
  createTable: CodeSwitch(false),
  ...RULES,
}

/**
 * For the option `isRevoked`: a deny list whose entries are rows of a table in PostgreSQL, which
 * all processes read. Rows that ended a day ago are deleted; one without `until` is stored for 26
 * days, since any process may need it for so long.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function postgresDenyList(given: PostgresDenyListOptions): DenyList {
  const options = entryPointOptions('postgresDenyList', given, MEMBERS)
  checkRules(options)
  const { pool, table, createTable, ...rules } = options.finish()
  return denyListFunction(rules, tableSource(pool, table, createTable, rules.maxLifetime))
}

/** The method is an inherited one. */
function isPool(value: unknown): value is PostgresPool {
  return isObject(value) && typeof value['query'] === 'function'
}

function isTableName(name: string): boolean {
  return name.length <= 63 && /^[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?$/.test(name)
}
