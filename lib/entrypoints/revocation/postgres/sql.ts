import { LONGEST_LIFETIME } from '../deny-list-options.ts'

/** Rows of one answer of the server, and of one deletion. */
export const PAGE = 1000

/** A time as `toISOString()` writes it, whatever the session's time zone and the driver's types. */
const asText = (column: string, fraction: 'MS' | 'US' = 'MS') =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.${fraction}"Z"')`

/** A time with four digits of the year, which has such a text. */
const isShort = (column: string) => `${column} BETWEEN '0001-01-02Z' AND '9999-12-30Z'`

/**
 * A day ago, by the server's clock and by the client's, which is a text: the earlier one counts.
 * Even clocks that are right differ, and entries count a little beyond their end. `now()` does not
 * change within a statement, without which no index would serve.
 */
const aDayAgo = (clientTime: string) =>
  `least(now(), ${clientTime}::text::timestamptz) - interval '1 day'`

const secondsBefore = (time: string, seconds: string) =>
  `${time} - make_interval(secs => ${seconds})`

/**
 * The statements for one table.
 *
 * @param name lower-case letters, digits and underscores, and one dot at most
 */
export function revocationsSql(name: string) {
  const table = name.replace(/[^.]+/g, '"$&"')
  return {
    // The lock is for two processes that create it at one moment: they would disturb each other.
    create: `DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('${name}'));
      -- IF NOT EXISTS looks into the first schema of the search path only.
      IF to_regclass('${table}') IS NOT NULL THEN RETURN; END IF;
      CREATE TABLE ${table} (
        xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        id bigint GENERATED ALWAYS AS IDENTITY,
        added_at timestamptz NOT NULL DEFAULT clock_timestamp() CHECK (${isShort('added_at')}),
        jti text, sid text, sub text, issuer text,
        issued_before timestamptz CHECK (${isShort('issued_before')}),
        until timestamptz CHECK (${isShort('until')}),
        CHECK (num_nonnulls(jti, sid, sub, issuer) > 0),
        PRIMARY KEY (xid, id));
      CREATE INDEX ON ${table} (until, added_at);
    END $$`,
    // A page of the rows after ($1, $2), or of all. ($3, $4, $5) is the newest row that was seen:
    // if it is gone, or ahead of the server, the server is another one, was restored, or crashed
    // and gives its numbers again, and everything is read anew. It is deleted only after a newer
    // one has come.
    // The times are computed once: a new process passes over millions of rows that have ended.
    select: `WITH newest AS (
        SELECT xid, id, ${asText('added_at', 'US')} AS at FROM ${table}
        ORDER BY xid DESC, id DESC LIMIT 1),
      here AS MATERIALIZED (
        SELECT ${aDayAgo('$6')} AS "dayAgo",
          ${secondsBefore(aDayAgo('$6'), '$7::text::float8')} AS "lifeAgo",
          pg_snapshot_xmin(pg_current_snapshot()) AS xmin, $3::text IS NULL OR (
          $3::text::xid8 < pg_snapshot_xmax(pg_current_snapshot()) AND EXISTS (
            SELECT FROM ${table} WHERE xid = $3::text::xid8 AND id = $4::text::bigint
              AND ${asText('added_at', 'US')} = $5::text)) AS "isSame")
      SELECT here.xmin::text AS xmin, here."isSame",
        newest.xid::text AS "newestXid", newest.id::text AS "newestId", newest.at AS "newestAt",
        entry.xid::text AS xid, entry.id::text AS id, entry."addedAt",
        jti, sid, sub, issuer, "issuedBefore", until
      FROM here LEFT JOIN newest ON true LEFT JOIN LATERAL (
        SELECT xid, id, ${asText('added_at')} AS "addedAt", jti, sid, sub, issuer,
          ${asText('issued_before')} AS "issuedBefore", ${asText('until')} AS until
        FROM ${table}
        WHERE (xid, id) > (CASE WHEN here."isSame" THEN $1::text ELSE '0' END::xid8,
            CASE WHEN here."isSame" THEN $2::text::bigint ELSE 0 END)
          AND coalesce(until >= here."dayAgo", added_at >= here."lifeAgo")
        ORDER BY xid, id LIMIT ${PAGE}) AS entry ON true`,
    insert: `INSERT INTO ${table} (jti, sid, sub, issuer, issued_before, until)
      VALUES ($1, $2, $3, $4, $5::text::timestamptz, $6::text::timestamptz)`,
    deleteEnded: `DELETE FROM ${table} WHERE (xid, id) IN (
      SELECT xid, id FROM ${table} WHERE until < ${aDayAgo('$1')}
        OR until IS NULL AND added_at < ${secondsBefore(aDayAgo('$1'), `${LONGEST_LIFETIME}`)}
      LIMIT ${PAGE})`,
  }
}
