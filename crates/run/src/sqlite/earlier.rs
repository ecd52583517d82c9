//! Ledgers of the form before: a row for each trial with its key, leases of one trial each, a link for each trial. Such a file is brought to
//! the form of today when it is opened, and stays beside it as it was.

use super::{Fault, TABLES, put_plan};
use crate::ledger::read;
use benchwright_pack::{RunPlan, WorkPlan};
use rusqlite::{Connection, Transaction};
use std::path::Path;

/// The form of these ledgers.
pub(super) const FORM: i64 = 2;

/// Keeps a copy of the file beside it, once.
pub(super) fn keep_aside(connection: &Connection, path: &Path) -> Result<(), Fault> {
    let mut name = path.as_os_str().to_owned();
    name.push(".form2");
    match Path::new(&name).exists() {
        true => Ok(()),
        false => {
            connection.execute("vacuum into ?1", [name.to_string_lossy()])?;
            Ok(())
        }
    }
}

/// Makes the tables of today of those of then. The hashes of the chain stay as they are.
pub(super) fn bring_over(transaction: &Transaction<'_>) -> Result<(), Fault> {
    transaction.execute_batch(
        "pragma defer_foreign_keys = on;
         drop index trial_state;
         alter table trial rename to trial_2;
         alter table link rename to link_2;
         alter table run rename to run_2;",
    )?;
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(
        "insert into run (id, name, digest, plan) select id, name, digest, plan from run_2;
         insert into link (run, place, numbers, record, folder, hash)
             select run, place, cast(number as text), record, folder, hash from link_2;
         create index link_2_number on link_2 (run, number);
         insert into trial (run, number, state, until, tries, failed, link, record)
             select run, number,
                    case state when 'done' then 2 when 'leased' then 0 else case when until > 0 then 3 else 0 end end,
                    case state when 'open' then until else 0 end, tries, failed,
                    case state when 'done' then coalesce((select max(place) from link_2
                        where link_2.run = trial_2.run and link_2.number = trial_2.number and link_2.record is not null), 0)
                    end,
                    record
             from trial_2;
         drop table trial_2;
         drop table link_2;
         drop table run_2;",
    )?;
    let mut plans = transaction.prepare("select id, plan from run order by id")?;
    let plans =
        plans.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<Vec<(i64, String)>, _>>()?;
    for (run, plan) in plans {
        put_plan(transaction, run, &WorkPlan::Run(read::<RunPlan>("the plan of a run", &plan)?))?;
    }
    Ok(())
}
