-- The tables of a ledger. Those of a run stand in run.sql.
create schema benchwright;
create table benchwright.form (form integer not null);
create table benchwright.run (
    id     bigserial primary key,
    name   text not null,
    digest text not null,
    plan   text not null,
    trials bigint not null
);
create table benchwright.task (
    run   bigint not null references benchwright.run,
    place bigint not null,
    line  text not null,
    primary key (run, place)
);
create table benchwright.worker (
    id    bigserial primary key,
    run   bigint not null references benchwright.run,
    hold  bigint not null,
    until timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
create sequence benchwright.fence;
create table benchwright.lease (
    fence  bigint primary key,
    run    bigint not null,
    worker bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index lease_run on benchwright.lease (run);
-- A link has its place and its hash once it is sealed.
create table benchwright.link (
    id      bigserial primary key,
    run     bigint not null references benchwright.run,
    numbers text not null,
    record  text,
    folder  text,
    segment text,
    place   bigint,
    hash    text,
    unique (run, place),
    check ((place is null) = (hash is null)),
    check (segment is null or record is null),
    check ((folder is null) = (record is null and segment is null))
);
create index link_unsealed on benchwright.link (run, id) where place is null;
create index link_segment on benchwright.link (run, segment) where segment is not null;
