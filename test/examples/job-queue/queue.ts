import type { AuthService } from '../../../lib/index.ts'
import type { Database } from '../tenants-in-a-database/database.ts'
import { asCurrentTenant } from './as-current-tenant.ts'

const SCHEMA = `
  create table if not exists jobs (
    id integer generated always as identity primary key,
    tenant text not null default current_setting('app.tenant', true) references tenants (name),
    kind text not null
  );
  -- A request adds jobs of its own tenant, and reads none. The worker owns the table, and takes
  -- jobs of all tenants: no policy binds it.
  alter table jobs enable row level security;
  drop policy if exists of_this_request on jobs;
  create policy of_this_request on jobs for insert to lunch_app
    with check (tenant = current_setting('app.tenant', true));
  grant insert on jobs to lunch_app;`

export interface Job {
  readonly tenant: string
  readonly kind: string
}

/** What a job may do in its tenant, whoever has added it. A job of another kind may do nothing. */
const RIGHTS: ReadonlyMap<string, readonly string[]> = new Map([['menu-card', ['dish:read']]])

export async function createQueue(database: Database): Promise<void> {
  await database.script(SCHEMA)
}

/** A job of the current tenant. The database knows which one that is. */
export async function addJob(database: Database, kind: string): Promise<void> {
  await asCurrentTenant(database, ({ query }) =>
    query('insert into jobs (kind) values ($1)', [kind]),
  )
}

/** Takes a job that no other worker has. Undefined: there is none. */
async function takeJob(database: Database): Promise<Job | undefined> {
  const [job] = await database.transaction(({ query }) =>
    query<{ tenant: string; kind: string }>(
      `delete from jobs where id =
         (select id from jobs order by id limit 1 for update skip locked) returning tenant, kind`,
    ),
  )
  return job
}

/** Runs the jobs that wait, each as its tenant. */
export async function runJobs(
  auth: AuthService,
  database: Database,
  run: (job: Job) => Promise<void>,
): Promise<void> {
  for (let job = await takeJob(database); job !== undefined; job = await takeJob(database)) {
    await runJob(auth, job, run)
  }
}

async function runJob(
  auth: AuthService,
  job: Job,
  run: (job: Job) => Promise<void>,
): Promise<void> {
  const { tenant, kind } = job
  const resources = RIGHTS.get(kind) ?? []
  await auth.actAs({ sub: `job:${kind}`, tenant, resources }, () => run(job))
}
