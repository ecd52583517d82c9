-- The table of a run's trials: open (0), held by a lease (1), done (2) or waiting to be tried again (3). It is a queue, so that rows
-- have room to be changed in place, and what is dead is cleared at once.
create table benchwright.trial_N (
    number bigint primary key,
    state  smallint not null default 0 check (state in (0, 1, 2, 3)),
    failed boolean not null default false,
    tries  integer not null default 0,
    fence  bigint not null default 0,
    until  timestamptz,
    link   bigint references benchwright.link,
    record text,
    check ((state = 2) = (link is not null)),
    check (state = 2 or record is null)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
create index trial_N_open on benchwright.trial_N (number) where state = 0;
create index trial_N_held on benchwright.trial_N (fence, number) where state = 1;
create index trial_N_waiting on benchwright.trial_N (until, number) where state = 3;
create index trial_N_failed on benchwright.trial_N (number) where failed;
