//! What dials make of a workflow: records, a file, forms and rules that only their tasks have. How cases of such tasks are found stands
//! in `beyond`.

mod added;
pub(crate) mod ask;
pub(crate) mod figures;
pub(crate) mod front;
pub(crate) mod over;

use crate::{
    dial::Dial,
    layout::{DATA, DRAW, Layout},
    told::Told,
    written::{File, FileColumn, FileTable, Written},
};
use benchwright_schema::{Domain, Folder, plan::PlanText};

/// The workflow with what a dial adds, before it is completed; nothing for a dial that adds nothing, or is not turned.
pub(crate) fn with_dial(
    folder: &Folder,
    dial: Dial,
    parts: (&Layout, &Told, &Written, &PlanText, &Domain),
) -> Result<Option<(Layout, Told, Written, PlanText)>, String> {
    let (layout, told, written, plan, forms) = parts;
    let turned = |(tier, _): (&String, _)| Dial::of(tier).is_some_and(|(_, known)| known == dial);
    if !told.difficulty.iter().any(turned) {
        return Ok(None);
    }
    let added = match dial {
        Dial::Ask => ask::added(),
        Dial::Over => over::added(),
        Dial::Front => front::added(),
        Dial::Twin => return Ok(None),
    };
    if let Some((form, ..)) = added.form.filter(|(form, ..)| forms.table_named(form).is_none()) {
        return Err(format!("a tier with the dial `{}` needs the form `{form}` in tables.toml", dial.word()));
    }
    if layout.table(added.table).is_some() {
        return Err(format!(
            "the table `{}` of the records has the name that the dial `{}` needs",
            added.table,
            dial.word()
        ));
    }
    let mut plan = plan.clone();
    let mut told = told.clone();
    match dial {
        Dial::Ask => ask::rules(&mut plan, forms),
        Dial::Over => over::rules(layout, &mut told, &mut plan)?,
        Dial::Front => front::rules(&mut plan, &mut told, forms)?,
        Dial::Twin => {}
    }
    // The records are declared again, with the table at their end.
    let data = format!("{}\n{}", folder.get(DATA).unwrap_or_default(), added.data);
    let draw = folder.get(DRAW).unwrap_or_default().to_owned();
    let more = Folder::new(&*folder.name, [(DATA.to_owned(), data), (DRAW.to_owned(), draw)]);
    let more =
        Layout::read(&more).map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    let gone: Vec<String> = more.tables.iter().map(|table| table.name.clone()).collect();
    let kept = |name: &String| layout.table(name).is_some() || name == added.table;
    let more = more.without(&gone.into_iter().filter(|name| !kept(name)).collect::<Vec<_>>());
    let from = more.tables.len() - 1;
    let column = |name: &str| more.tables[from].columns.iter().position(|known| known.name == name).unwrap_or_default();
    let columns = added.columns.iter().map(|(known, name, means)| FileColumn {
        from: column(known),
        name: (*name).to_owned(),
        means: (*means).to_owned(),
    });
    let table = FileTable { name: added.table.to_owned(), from, columns: columns.collect() };
    let mut written = written.clone();
    written.files.push(File {
        path: added.path.to_owned(),
        says: added.says.to_owned(),
        stage: 1,
        tables: vec![table],
    });
    written.files.sort_by(|a, b| a.path.cmp(&b.path));
    told.candidates.extend(added.candidates.map(|(view, rows)| (view.to_owned(), rows)));
    if let Some((form, says, columns)) = added.form {
        told.brief.forms.insert(form.to_owned(), says.to_owned());
        let columns = columns.iter().map(|(name, means)| ((*name).to_owned(), (*means).to_owned()));
        told.brief.columns.insert(form.to_owned(), columns.collect());
    }
    Ok(Some((more, told, written, plan)))
}
