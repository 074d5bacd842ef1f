-- One table of customer companies, one of their members, and one of what belongs to them. Requests
-- use the tables as lunch_app. What a user may do is looked up as lunch_rights, before a tenant is
-- known. Both roles own nothing, are no superusers, and do not bypass row security.
-- The script may be run again.

do $$
declare
  role text;
begin
  foreach role in array array['lunch_app', 'lunch_rights'] loop
    if not exists (select from pg_roles where rolname = role) then
      execute format('create role %I nologin nosuperuser nobypassrls', role);
    end if;
  end loop;
end
$$;

-- The user who logs in may act as both, and does so in a request.
grant lunch_app, lunch_rights to current_user;

create table if not exists tenants (
  name text primary key check (name <> '')
);

-- What each user may do in each tenant. Issuer and sub together name a user. A null
-- among the resources would make all rights of the user unreadable, those in other tenants too; the
-- tenant `*` would be every tenant.
create table if not exists memberships (
  issuer text not null check (issuer <> ''),
  sub text not null check (sub <> ''),
  tenant text not null default current_setting('app.tenant', true) references tenants (name)
    check (tenant <> '*'),
  resources text[] not null check (array_position(resources, null) is null),
  primary key (issuer, sub, tenant)
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
alter table memberships enable row level security, force row level security;
alter table dishes enable row level security, force row level security;

drop policy if exists of_this_request on tenants;
create policy of_this_request on tenants
  using (name = current_setting('app.tenant', true));

drop policy if exists of_this_request on memberships;
create policy of_this_request on memberships
  using (tenant = current_setting('app.tenant', true))
  with check (tenant = current_setting('app.tenant', true));

-- All memberships of one user, for the role that may do nothing else.
drop policy if exists of_this_user on memberships;
create policy of_this_user on memberships for select to lunch_rights
  using (issuer = current_setting('app.issuer', true) and sub = current_setting('app.sub', true));

drop policy if exists of_this_request on dishes;
create policy of_this_request on dishes
  using (tenant = current_setting('app.tenant', true))
  with check (tenant = current_setting('app.tenant', true));

grant select on tenants to lunch_app;
grant select on memberships to lunch_rights;
grant select, insert, update (resources), delete on memberships to lunch_app;
grant select, insert, update, delete on dishes to lunch_app;
