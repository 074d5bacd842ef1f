-- One table of customer companies, and one of what belongs to them. Requests use the tables as
-- lunch_app. This role owns nothing, is not a superuser, and does not bypass row security.
-- The script may be run again.

do $$
begin
  if not exists (select from pg_roles where rolname = 'lunch_app') then
    create role lunch_app nologin nosuperuser nobypassrls;
  end if;
end
$$;

-- The user who logs in may act as lunch_app, and does so in a request.
grant lunch_app to current_user;

create table if not exists tenants (
  name text primary key check (name <> '')
);

-- The tenant is part of each key. So a name that another tenant uses is free here, and no conflict
-- shows that it exists.
create table if not exists dishes (
  tenant text not null default current_setting('app.tenant', true) references tenants (name),
  id integer generated always as identity,
  name text not null check (name <> ''),
  primary key (tenant, id),
  unique (tenant, name)
);

-- Forced: row security holds for the owner of the tables too. Outside a request app.tenant is null
-- or empty, and equals no tenant.
alter table tenants enable row level security, force row level security;
alter table dishes enable row level security, force row level security;

drop policy if exists of_this_request on tenants;
create policy of_this_request on tenants
  using (name = current_setting('app.tenant', true));

drop policy if exists of_this_request on dishes;
create policy of_this_request on dishes
  using (tenant = current_setting('app.tenant', true))
  with check (tenant = current_setting('app.tenant', true));

grant select on tenants to lunch_app;
grant select, insert, update, delete on dishes to lunch_app;
