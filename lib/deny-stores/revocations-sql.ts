/** The statements for one table. */
export interface RevocationsSql {
  readonly create: string
  readonly select: string
  readonly insert: string
  readonly deleteEnded: string
  readonly listen: string
}

/** A time as `toISOString()` writes it, whatever the session's time zone and the driver's types. */
const asText = (column: string) =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** A time with four digits of the year, which that text can tell. */
const isShort = (column: string) => `${column} BETWEEN '0001-01-02Z' AND '9999-12-30Z'`

/**
 * By the server's clock and by the client's, which is a text: the earlier one counts. Even clocks
 * that are right differ, and entries count a little beyond their end.
 */
const hasLongEnded = (clientTime: string) =>
  `until < least(now(), ${clientTime}::text::timestamptz) - interval '1 day'`

/** @param name of the table: lower-case letters, digits and underscores, and one dot at most */
export function revocationsSql(name: string): RevocationsSql {
  const table = name.replace(/[^.]+/g, '"$&"')
  return {
    // Two processes that create it at one moment would disturb each other: the lock is for that.
    create: `DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('${name}'));
      CREATE TABLE IF NOT EXISTS ${table} (
        xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        jti text, sid text, sub text, issuer text,
        issued_before timestamptz CHECK (${isShort('issued_before')}),
        until timestamptz NOT NULL CHECK (${isShort('until')}),
        CHECK (num_nonnulls(jti, sid, sub, issuer) > 0));
      IF NOT EXISTS (SELECT FROM pg_index WHERE indrelid = '${table}'::regclass) THEN
        CREATE INDEX ON ${table} (xid);
        CREATE INDEX ON ${table} (until);
      END IF;
    END $$`,
    // A transaction that is under way has a number of at least xmin. It may commit after a later
    // one: all from xmin on is read again next time. A cursor ahead of the server, or one of
    // another server: everything anew.
    select: `SELECT here.server, here.xmin::text AS xmin, jti, sid, sub, issuer,
        ${asText('issued_before')} AS "issuedBefore", ${asText('until')} AS until
      FROM (SELECT extract(epoch FROM pg_postmaster_start_time())::text AS server,
        pg_snapshot_xmin(pg_current_snapshot()) AS xmin,
        pg_snapshot_xmax(pg_current_snapshot()) AS xmax) AS here
      LEFT JOIN ${table} AS entry ON NOT (${hasLongEnded('$3')}) AND entry.xid >= CASE
        WHEN $1::text IS DISTINCT FROM here.server OR $2::text::xid8 > here.xmax THEN '0'::xid8
        ELSE $2::text::xid8 END`,
    insert: `WITH entry AS (
        INSERT INTO ${table} (jti, sid, sub, issuer, issued_before, until)
        VALUES ($1, $2, $3, $4, $5::text::timestamptz, $6::text::timestamptz) RETURNING 1)
      SELECT pg_notify('${name}', '') FROM entry`,
    deleteEnded: `DELETE FROM ${table} WHERE ${hasLongEnded('$1')}`,
    listen: `LISTEN "${name}"`,
  }
}
