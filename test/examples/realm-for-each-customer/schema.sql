-- The identity providers that customers bring, and the tenants that each may speak for. The script
-- may be run again.

create table if not exists identity_provider (
  -- As its tokens have it in `iss`, compared exactly.
  issuer text primary key check (issuer <> ''),
  -- `*` would let a customer speak for all others.
  tenants text[] not null check (
    cardinality(tenants) > 0
    and array_position(tenants, null) is null
    and array_position(tenants, '*') is null
  ),
  audience text not null check (audience <> ''),
  -- Null: the keys are discovered.
  public_keys_url text
);
