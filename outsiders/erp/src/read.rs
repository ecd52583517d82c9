//! Reads a task: first the instruction, then the records that it leads to.

mod calendar;
mod goods;
mod needed;
mod notes;
mod papers;
mod phrase;
mod readings;
mod records;
mod tables;
mod text;

use crate::{
    job::{Goal, Job},
    lost::Lost,
};
use benchwright_world::ToolAccess;

/// The job that an instruction and a system of record describe.
pub(crate) fn job(text: &str, access: &mut dyn ToolAccess) -> Result<Job, Lost> {
    let told = text::read(text)?;
    let requests = papers::requests(access, &told)?;
    let sold = requests.iter().flat_map(|request| &request.lines).map(|(item, _)| item.clone()).collect();
    let goods = goods::read(access, sold)?;
    let offers = goods::offers(access, &goods, &told)?;
    let shop = goods::shop(access, &goods, &told)?;
    let bought_before = papers::purchases(access, &goods)?;
    let built_before = papers::builds(access, &goods, &shop)?;
    if told.goal != Goal::Change && !(bought_before.is_empty() && built_before.is_empty()) {
        return Err(Lost::NotUnderstood(
            "a plan stands already, and the text does not say what to do with it".to_owned(),
        ));
    }
    let closed = calendar::closed(access, &told)?;
    let items = goods.items.into_values().collect();
    let goods::Shop { ways, pools, down, .. } = shop;
    let job = Job { told, requests, items, offers, ways, pools, down, closed, bought_before, built_before };
    needed::check(text, &job)?;
    Ok(job)
}
