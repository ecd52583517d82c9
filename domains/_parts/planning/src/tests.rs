//! The desk with documents of all kinds, sound and hostile, in a domain of the tests' own. What can be told as data stands in
//! `domains/planning/coatings/cases`.

use crate::{
    NATIVES,
    form::{Document, Faults, Form, LARGEST, LISTED, MOST_ROWS},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use benchwright_base::{Json, Value};
use benchwright_files::{Table, xlsx};
use benchwright_pack::{RefusalCode, Snapshot, SnapshotTable};
use benchwright_sandbox::{Conditions, Episode, Sandbox};
use benchwright_schema::{Domain, Folder, load};
use benchwright_world::Seat;
use serde_json::{Value as Any, json};
use std::sync::Arc;

const TABLES: &str = r#"
[enums]
Shift = ["early", "late"]

[plan]
item    = "text(1..12)"
period  = "int(1..60)"
batches = "int(-5..99)"
unique  = ["item, period"]

[prices]
code  = "text unique"
price = "money(0..100)"
load  = "quantity?"
day   = "date"
hour  = "time"
shift = "Shift"
open  = "bool = true"
note  = "text(..5)?"

[moves]
stage  = "int(1..)"
item   = "text(1..12)"
qty    = "int"
unique = ["stage, item"]

[scenes]
stage  = "text(1..5)"
seats  = "int"
"#;
const DOMAIN: &str =
    "name = \"office\"\ntitle = \"Office\"\nrole = \"planner\"\nabout = \"Plans.\"\ninclude = [\"planning\"]\n";
const WORKBOOK: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

fn domain() -> Domain {
    let files = |files: &[(&str, &str)]| -> Vec<(String, String)> {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    };
    let part = [
        ("tables.toml", include_str!("../tables.toml")),
        ("tools.toml", include_str!("../tools.toml")),
        ("policy.toml", include_str!("../policy.toml")),
    ];
    let own = files(&[("domain.toml", DOMAIN), ("tables.toml", TABLES)]);
    load(&Folder::new("office", own).with_part("planning", files(&part))).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// A desk with files (path, media, stage, body), at the first of so many stages.
fn desk(files: &[(&str, &str, i64, &str)], last: i64) -> Episode {
    let domain = Arc::new(domain());
    let mut tables: Vec<SnapshotTable> = Vec::new();
    for table in &domain.tables {
        let rows: Vec<Vec<Value>> = match &*table.name {
            "file" => {
                let cells = |(at, (path, media, stage, body)): (usize, &(&str, &str, i64, &str))| {
                    let id = Value::Ref(at as u32 + 1);
                    vec![id, Value::text(*path), Value::text(*media), Value::Int(*stage), Value::text(*body)]
                };
                files.iter().enumerate().map(cells).collect()
            }
            "stage" => vec![vec![Value::Ref(1), Value::Int(1), Value::Int(last), Value::Null]],
            _ => Vec::new(),
        };
        tables.push(SnapshotTable { next_id: rows.len() as u32 + 1, next_number: 1, rows });
    }
    let snapshot =
        Snapshot { domain: domain.name.clone(), domain_digest: domain.digest, first: None, now: domain.now, tables };
    let sandbox = Arc::new(Sandbox::from_snapshot(domain, NATIVES, &snapshot).unwrap());
    let role = sandbox.domain().roles[0].name.clone();
    sandbox.begin(&Seat { role, actor: None }, Conditions::default()).unwrap()
}

fn answer(desk: &mut Episode, tool: &str, arguments: &Any) -> Any {
    let answer = desk.call(tool, &arguments.to_string()).unwrap_or_else(|refusal| panic!("{tool}: {refusal}"));
    serde_json::from_str(&answer).unwrap()
}

fn refusal(desk: &mut Episode, tool: &str, arguments: &Any) -> (RefusalCode, String) {
    let refusal = desk.call(tool, &arguments.to_string()).expect_err(tool);
    (refusal.code, refusal.message)
}

fn read(form: &str, document: Document<'_>) -> Result<usize, Faults> {
    let domain = domain();
    let table = domain.table_named(form).unwrap();
    Form::of(&domain, table).read(document).map(|rows| rows.len())
}

/// What is wrong with a CSV, line by line.
fn told(form: &str, csv: &str) -> Vec<String> {
    read(form, Document::Csv(csv)).expect_err(csv).listed.iter().map(ToString::to_string).collect()
}

/// What is wrong with rows.
fn told_rows(form: &str, rows: &str) -> Vec<String> {
    let Json::List(rows) = Json::parse(rows).unwrap() else { panic!("{rows}") };
    read(form, Document::Rows(&rows)).expect_err("it fits").listed.iter().map(ToString::to_string).collect()
}

const WHOLE: &str = "wants a whole number of at most 64 bits, in plain digits";

#[test]
fn only_one_way_to_write_a_whole_number_is_one() {
    for text in [
        "1e3",
        "12.0",
        "+5",
        " 5",
        "5 ",
        "\"5\n\"",
        "007",
        "-0",
        "9223372036854775808",
        "0x10",
        "1_000",
        "٣",
        "=5",
        "x",
    ] {
        assert_eq!(told("plan", &format!("item,period,batches\nA,1,{text}\n")), [format!("row 2, `batches`: {WHOLE}")]);
    }
    for number in ["1e3", "12.0", "9223372036854775808", "1e400", "-0"] {
        let rows = format!("[{{\"item\":\"A\",\"period\":1,\"batches\":{number}}}]");
        match Json::parse(&rows) {
            Ok(_) => assert_eq!(told_rows("plan", &rows), [format!("row 1, `batches`: {WHOLE}")]),
            // It is no number of any document.
            Err(_) => assert_eq!(number, "1e400"),
        }
    }
    let text = told_rows("plan", r#"[{"item":"A","period":1,"batches":"5"}]"#);
    assert_eq!(text, ["row 1, `batches`: wants a whole number, got a string"]);
    assert_eq!(read("plan", Document::Csv("item,period,batches\nA,1,-5\n")), Ok(1));
    assert_eq!(
        told("plan", "item,period,batches\nA,1,-6\n"),
        ["row 2, `batches`: wants a value of at least -5, got -6"]
    );
}

#[test]
fn decimals_are_taken_exactly_and_the_rest_by_its_json_form() {
    let head = "code,price,load,day,hour,shift,open,note\n";
    let domain = domain();
    let form = Form::of(&domain, domain.table_named("prices").unwrap());
    let csv = format!("{head}a,19.99,0.125,2026-03-02,09:30,late,false,\nb,100,,2026-12-31,23:59:59,early,,x\n");
    let rows = form.read(Document::Csv(&csv)).unwrap();
    let cells = |row: usize| rows[row].iter().map(|(_, value)| value.clone()).collect::<Vec<_>>();
    assert_eq!(cells(0)[1..3], [Value::Money(1999), Value::Quantity(125)]);
    assert_eq!((&cells(0)[5], &cells(0)[6], &cells(0)[7]), (&Value::Enum(1), &Value::Bool(false), &Value::Null));
    // What is empty is nothing, or what is declared for it.
    assert_eq!((&cells(1)[2], &cells(1)[6]), (&Value::Null, &Value::Bool(true)));
    let json = r#"[{"code":"a","price":19.99,"load":0.125,"day":"2026-03-02","hour":"09:30","shift":"late","open":false,"note":null}]"#;
    let Json::List(objects) = Json::parse(json).unwrap() else { panic!("{json}") };
    assert_eq!(form.read(Document::Rows(&objects)).unwrap(), rows[..1]);
    let wrong = format!(
        "{head}a,19.999,1.2345,2026-02-30,25:00,noon,yes,123456\nb,1e1,+1,02.03.2026,9,Late,TRUE,\nc,100.01,-,,,,,\n"
    );
    assert_eq!(
        told("prices", &wrong),
        [
            "row 2, `price`: wants an amount with at most two decimals, in plain digits",
            "row 2, `load`: wants a quantity with at most three decimals, in plain digits",
            "row 2, `day`: wants a date such as 2026-03-02",
            "row 2, `hour`: wants a time of day such as 09:30",
            "row 2, `shift`: wants one of early, late",
            "row 2, `open`: wants true or false",
            "row 2, `note`: wants a length of at most 5, got 6",
            "row 3, `price`: wants an amount with at most two decimals, in plain digits",
            "row 3, `load`: wants a quantity with at most three decimals, in plain digits",
            "row 3, `day`: wants a date such as 2026-03-02",
            "row 3, `hour`: wants a time of day such as 09:30",
            "row 3, `shift`: wants one of early, late; did you mean late?",
            "row 3, `open`: wants true or false",
            "row 4, `price`: wants a value of at most 100, got 100.01",
            "row 4, `load`: wants a quantity with at most three decimals, in plain digits",
            "row 4, `day`: must have a value",
            "row 4, `hour`: must have a value",
            "row 4, `shift`: must have a value",
        ]
    );
}

#[test]
fn columns_are_those_of_the_form() {
    assert_eq!(
        told("plan", "item,perid,cost,batches,item\nA,1,2,3,B\n"),
        [
            "row 1, `5`: two columns are called `item`",
            "row 1, `perid`: is not a column of this form; did you mean `period`?",
            "row 1, `cost`: is not a column of this form; there are item, period, batches",
            "row 1, `period`: is missing"
        ]
    );
    assert_eq!(told("plan", "item;period;batches\nA;1;2\n").len(), 4, "semicolons are no commas");
    // What may be nothing, or is declared, may be left out; so may no other.
    assert_eq!(read("prices", Document::Csv("shift,hour,day,price,code\nlate,09:30,2026-03-02,1,a\n")), Ok(1));
    assert_eq!(
        told_rows("plan", r#"[{"item":"A"},{"item":[["A"]],"period":{"a":1},"batches":null,"id":7}]"#),
        [
            "row 1, `period`: is missing",
            "row 1, `batches`: is missing",
            "row 2, `item`: wants a string, got a list",
            "row 2, `period`: wants a whole number, got an object",
            "row 2, `batches`: must have a value",
            "row 2, `id`: is not a column of this form; there are item, period, batches"
        ]
    );
    assert_eq!(
        told_rows("plan", "[5, []]"),
        ["row 1: wants an object, got a number", "row 2: wants an object, got a list"]
    );
    // The stage is not given.
    let stage = "row 1, `stage`: is not a column of this form; it is the stage that is now, and not given";
    assert_eq!(told("moves", "stage,item,qty\n1,A,2\n"), [stage]);
    assert_eq!(told_rows("moves", r#"[{"stage":1,"item":"A","qty":2}]"#), [stage]);
    // A column of that name that is no whole number is one like all others.
    assert_eq!(read("scenes", Document::Csv("stage,seats\nleft,1\nright,2\n")), Ok(2));
}

#[test]
fn csv_of_all_programs_is_read_and_what_is_broken_is_told_with_the_rest() {
    let sound = "\u{feff}\"item\",period,batches\r\n\"A,\"\"x\"\"\",1,2\r\n\r\n\"B\n2\",1,3\r\n";
    assert_eq!(read("plan", Document::Csv(sound)), Ok(2));
    assert_eq!(read("plan", Document::Csv("item,period,batches\n")), Ok(0));
    assert_eq!(told("plan", ""), ["there is no header"]);
    assert_eq!(
        told("plan", "\n\nitem,period,batches\nA,1\nB\0,2,2\n\"C\"c,3,3\nD,x,4\n\"E,5,5\n"),
        [
            "row 4: it has 2 cells, and the header has 3",
            "row 5, `item`: there is a NUL character",
            "row 6, `item`: a quote stands inside a cell; quote the whole cell and double the quotes in it",
            &*format!("row 7, `period`: {WHOLE}"),
            "row 8, `item`: a quote is opened here and never closed"
        ]
    );
    assert_eq!(
        told_rows("plan", r#"[{"item":"A\u0000","period":1,"batches":2}]"#),
        ["row 1, `item`: has a NUL character"]
    );
}

#[test]
fn a_text_is_only_a_text() {
    let odd = ["=1+1", "@SUM(A1)", "-2+3", "+x", "' OR 1=1", "<script>", " A ", "😀\u{202e}", "{tables}", "NULL", "\t"];
    let mut desk = desk(&[], 1);
    let rows: Vec<Any> = odd.iter().map(|item| json!({ "item": item, "period": 1, "batches": 1 })).collect();
    answer(&mut desk, "form_submit", &json!({ "form": "plan", "rows": rows }));
    assert_eq!(answer(&mut desk, "form_show", &json!({ "form": "plan" }))["rows"], Any::Array(rows.clone()));
    let csv: String = odd.iter().map(|item| format!("\"{item}\",1,1\n")).collect();
    answer(&mut desk, "form_submit", &json!({ "form": "plan", "csv": format!("item,period,batches\n{csv}") }));
    assert_eq!(answer(&mut desk, "form_show", &json!({ "form": "plan" }))["rows"], Any::Array(rows));
    assert_eq!(
        told("plan", "item,period,batches\nABCDEFGHIJKLM,1,1\n"),
        ["row 2, `item`: wants a length of at most 12, got 13"]
    );
}

#[test]
fn twenty_faults_are_listed_and_the_others_counted() {
    let faults = read("plan", Document::Csv(&format!("item,period,batches\n{}", "A,0,x\n".repeat(50)))).unwrap_err();
    assert_eq!((faults.listed.len(), faults.more), (LISTED, 80));
    assert_eq!(faults.listed[19].row, Some(11));
    assert!(faults.to_string().ends_with("; and 80 more"), "{faults}");
    // Rows of the wrong length are among them, in their order.
    let faults = read("plan", Document::Csv(&format!("item,period,batches\n{}", "A,0,1\nB\n".repeat(60)))).unwrap_err();
    let rows: Vec<Option<usize>> = faults.listed.iter().map(|fault| fault.row).collect();
    assert_eq!((rows, faults.more), ((2..22).map(Some).collect(), 100));
}

#[test]
fn a_document_has_limits() {
    let rows = |count: usize| (0..count).map(|row| format!("{row},1,1\n")).collect::<String>();
    let full = format!("item,period,batches\n{}", rows(MOST_ROWS));
    assert_eq!(read("plan", Document::Csv(&full)), Ok(MOST_ROWS));
    assert_eq!(told("plan", &format!("{full}z,1,1\n")), ["there are more than 20000 rows"]);
    let large = format!("item,period,batches\n{}", "x".repeat(LARGEST));
    assert_eq!(told("plan", &large), ["there are more than 2097152 bytes"]);
    let objects = |count: usize, item: &str| {
        let entries = || vec![("item".into(), Json::Text(item.to_owned().into())), ("period".into(), Json::Int(1))];
        (0..count).map(|_| Json::Object(entries())).collect::<Vec<_>>()
    };
    let faults = read("plan", Document::Rows(&objects(MOST_ROWS + 1, "A"))).unwrap_err();
    assert_eq!(faults.to_string(), "there are more than 20000 rows");
    let faults = read("plan", Document::Rows(&objects(10, &"x".repeat(LARGEST / 8)))).unwrap_err();
    assert_eq!(faults.to_string(), "there are more than 2097152 bytes");

    // The same through the tools: all of it is handed in, and again; three times as much is not read.
    let mut desk = desk(&[], 1);
    for revision in 1..=2 {
        let told = answer(&mut desk, "form_submit", &json!({ "form": "plan", "csv": full }));
        assert_eq!((&told["rows"], &told["revision"]), (&json!(MOST_ROWS), &json!(revision)));
    }
    let list: Vec<Any> =
        (0..MOST_ROWS).map(|row| json!({ "item": row.to_string(), "period": 2, "batches": 1 })).collect();
    assert_eq!(answer(&mut desk, "form_submit", &json!({ "form": "plan", "rows": list }))["left"], 37);
    let (code, told) = refusal(&mut desk, "form_check", &json!({ "form": "plan", "csv": "x".repeat(3 << 20) }));
    assert_eq!((code, &*told), (RefusalCode::InvalidArgument, "`csv` wants a length of at most 2097152, got 3145728"));
    let (code, told) = refusal(&mut desk, "form_submit", &json!({ "form": "plan", "csv": "ü".repeat(1_500_000) }));
    assert_eq!(code, RefusalCode::InvalidArgument);
    assert!(told.ends_with("there are more than 2097152 bytes"), "{told}");
}

#[test]
fn keys_given_twice_and_deep_nesting_are_no_arguments() {
    let mut desk = desk(&[], 1);
    let deep = format!("{{\"form\":\"plan\",\"rows\":[{{\"item\":{}1{}}}]}}", "[".repeat(500), "]".repeat(500));
    for arguments in [
        r#"{"form":"plan","rows":[{"item":"A","item":"B","period":1,"batches":2}]}"#,
        r#"{"form":"plan","form":"moves","rows":[]}"#,
        r#"{"form":"plan","rows":{"item":"A"}}"#,
        r#"{"form":"plan","rows":[["A",1,2]]}"#,
        r#"{"form":"plan","csv":["item"]}"#,
        r#"{"form":"plan","rows":[],"stage":2}"#,
        &deep,
    ] {
        assert_eq!(desk.call("form_submit", arguments).unwrap_err().code, RefusalCode::InvalidArgument, "{arguments}");
    }
    assert!(desk.diff().is_empty());
}

#[test]
fn a_form_with_stages_keeps_what_was_handed_in_at_each() {
    let mut desk = desk(&[("later.csv", "text/csv", 2, "a\n1\n")], 3);
    let submit = |desk: &mut Episode, csv: &str| answer(desk, "form_submit", &json!({ "form": "moves", "csv": csv }));
    submit(&mut desk, "item,qty\nA,1\nB,2\n");
    assert_eq!(answer(&mut desk, "stage_next", &json!({})), json!({ "stage": 2, "of": 3, "files": ["later.csv"] }));
    // The same item again, at another stage.
    assert_eq!(submit(&mut desk, "item,qty\nA,5\n")["revision"], 1);
    assert_eq!(submit(&mut desk, "item,qty\nA,6\n")["revision"], 2);
    let shown = answer(&mut desk, "form_show", &json!({ "form": "moves" }));
    assert_eq!(shown["rows"], json!([{ "item": "A", "qty": 6 }]));
    let table = desk.domain().table_named("moves").unwrap();
    let rows: Vec<Vec<Value>> = desk.rows(table).map(|row| row.cells()[1..].to_vec()).collect();
    let row = |stage, item: &str, qty| vec![Value::Int(stage), Value::text(item), Value::Int(qty)];
    assert_eq!(rows, [row(1, "A", 1), row(1, "B", 2), row(2, "A", 6)]);
    assert_eq!(told("moves", "item,qty\nA,1\nA,2\n"), ["row 3, `item`: is the same in row 2"]);
    // A form without stages has one set of rows for all of them.
    answer(&mut desk, "form_submit", &json!({ "form": "plan", "csv": "item,period,batches\nA,1,1\n" }));
    assert_eq!(answer(&mut desk, "stage_next", &json!({})), json!({ "stage": 3, "of": 3, "files": [] }));
    let shown = answer(&mut desk, "form_show", &json!({ "form": "plan" }));
    assert_eq!((&shown["revision"], shown["rows"].as_array().unwrap().len()), (&json!(0), 1));
    assert_eq!(refusal(&mut desk, "stage_next", &json!({})).0, RefusalCode::TransitionNotAllowed);
}

#[test]
fn forty_submissions_are_accepted_over_all_forms_and_stages() {
    let mut desk = desk(&[], 2);
    for at in 0..40 {
        let arguments = match at % 2 {
            0 => json!({ "form": "plan", "csv": "item,period,batches\n" }),
            _ => json!({ "form": "moves", "rows": [] }),
        };
        assert_eq!(answer(&mut desk, "form_submit", &arguments)["left"], 39 - at);
        // A document that does not fit costs nothing.
        assert_eq!(
            refusal(&mut desk, "form_submit", &json!({ "form": "plan", "csv": "" })).0,
            match at {
                39 => RefusalCode::BudgetExhausted,
                _ => RefusalCode::InvalidArgument,
            }
        );
        if at == 10 {
            answer(&mut desk, "stage_next", &json!({}));
        }
    }
    let (code, told) = refusal(&mut desk, "form_submit", &json!({ "form": "plan", "csv": "item,period,batches\n" }));
    assert_eq!(code, RefusalCode::BudgetExhausted, "{told}");
}

fn workbook() -> String {
    let texts = |line: &str| line.split('|').map(str::to_owned).collect::<Vec<_>>();
    let table = |name: &str, header: &str, rows: &[&str]| {
        Table::new(name, texts(header), rows.iter().map(|row| texts(row)).collect()).unwrap()
    };
    let demand = table("Demand", "item|qty|note", &["A|12|a, b", "B|7|"]);
    let sites = table("Sites", "code", &["KRN"]);
    let sheets = [
        xlsx::Sheet { table: &demand, title: Some("Demand in litres"), integers: &["qty"] },
        xlsx::Sheet { table: &sites, title: None, integers: &[] },
    ];
    STANDARD.encode(xlsx::write(&sheets).unwrap())
}

#[test]
fn a_workbook_is_shown_as_csv_and_read_as_rows() {
    let body = workbook();
    let mut desk = desk(&[("data/demand.xlsx", WORKBOOK, 1, &body)], 1);
    let size = STANDARD.decode(&body).unwrap().len();
    assert_eq!(answer(&mut desk, "workspace_list", &json!({}))["files"][0]["size"], size);
    let path = "data/demand.xlsx";
    let told = answer(&mut desk, "workspace_read", &json!({ "path": path }));
    assert_eq!(told["text"], "Demand in litres,,\nitem,qty,note\nA,12,\"a, b\"\nB,7,\n");
    assert_eq!((&told["sheet"], &told["sheets"]), (&json!("Demand"), &json!(["Demand", "Sites"])));
    assert_eq!((&told["size"], &told["next_offset"]), (&json!(50), &Any::Null));
    let page = answer(&mut desk, "workspace_read", &json!({ "path": path, "sheet": "Sites", "offset": 5, "limit": 2 }));
    assert_eq!((&page["text"], &page["next_offset"], &page["size"]), (&json!("KR"), &json!(7), &json!(9)));
    // The title is none of the rows.
    let rows = answer(&mut desk, "workspace_rows", &json!({ "path": path, "where": { "qty": 7 } }));
    assert_eq!(rows["rows"], json!([{ "item": "B", "qty": "7", "note": "" }]));
    assert_eq!((&rows["sheet"], &rows["sheets"]), (&json!("Demand"), &json!(["Demand", "Sites"])));
    let rows = answer(&mut desk, "workspace_rows", &json!({ "path": path, "sheet": "Sites" }));
    assert_eq!(rows["rows"], json!([{ "code": "KRN" }]));
    for tool in ["workspace_read", "workspace_rows"] {
        let (code, told) = refusal(&mut desk, tool, &json!({ "path": path, "sheet": "Site" }));
        assert_eq!(code, RefusalCode::InvalidArgument);
        assert_eq!(told, "`sheet` is none of the sheets, which are Demand, Sites");
    }
}

#[test]
fn what_has_no_table_is_refused_and_says_what_there_is() {
    let files = [
        ("a.csv", "text/csv", 1, "\u{feff}art;menge\n1;2,5\n"),
        ("b.json", "application/json", 1, "{\"plant\": {\"tank\": 5}}"),
        ("c.txt", "text/plain", 1, "no table"),
        ("d.png", "image/png", 1, "AAAA"),
        ("e.xlsx", WORKBOOK, 1, "AAAA"),
        ("f.xlsx", WORKBOOK, 1, "not base64!"),
        ("g.csv", "text/csv", 1, "a,b\n1\n2\n3\n4\n5\n"),
        ("h.json", "application/json", 1, "[{\"a\": 1, \"a\": 2}]"),
    ];
    let mut desk = desk(&files, 1);
    let rows = answer(&mut desk, "workspace_rows", &json!({ "path": "a.csv", "where": { "menge": "2,5" } }));
    assert_eq!(rows["rows"], json!([{ "art": "1", "menge": "2,5" }]));
    assert_eq!(answer(&mut desk, "workspace_read", &json!({ "path": "b.json" }))["text"], "{\"plant\": {\"tank\": 5}}");
    let mut rows = |arguments: Any| refusal(&mut desk, "workspace_rows", &arguments).1;
    assert_eq!(
        rows(json!({ "path": "a.csv", "where": { "meng": "1" } })),
        "`where` names a column that is none of art, menge; did you mean `menge`?"
    );
    assert_eq!(
        rows(json!({ "path": "a.csv", "where": { "art": 1.5 } })),
        "`where` wants a text for each column, got a number"
    );
    assert!(rows(json!({ "path": "b.json" })).contains("must be a list of objects"));
    assert!(rows(json!({ "path": "c.txt" })).contains("without a table"));
    assert!(rows(json!({ "path": "d.png" })).contains("without a table"));
    assert!(rows(json!({ "path": "e.xlsx" })).contains("not a workbook"));
    assert!(rows(json!({ "path": "f.xlsx" })).contains("is damaged"));
    let told = rows(json!({ "path": "g.csv" }));
    assert!(told.contains("g.csv, row 4") && told.contains("and 2 more; workspace_read gives its text"), "{told}");
    assert!(rows(json!({ "path": "h.json" })).contains("is there twice"));
    let (code, told) = refusal(&mut desk, "workspace_read", &json!({ "path": "d.png" }));
    assert_eq!(
        (code, &*told),
        (RefusalCode::InvalidArgument, "`path` is of the type image/png, which has no text to give")
    );
    // What is not there, not yet or not at all, is told in the same words.
    let (code, missing) = refusal(&mut desk, "workspace_read", &json!({ "path": "../../etc/passwd" }));
    assert_eq!(code, RefusalCode::NotFound);
    assert!(!missing.contains("passwd"), "{missing}");
}

#[test]
fn long_files_are_read_in_pages_that_add_up() {
    let text = "Grüße, 😀\n".repeat(12_000);
    let mut desk = desk(&[("memo.txt", "text/plain", 1, &text), ("none.txt", "text/plain", 1, "")], 1);
    for limit in [None, Some(1_000), Some(65_536)] {
        let (mut whole, mut offset) = (String::new(), json!(0));
        while !offset.is_null() {
            let mut arguments = json!({ "path": "memo.txt", "offset": offset });
            if let Some(limit) = limit {
                arguments["limit"] = json!(limit);
            }
            let page = answer(&mut desk, "workspace_read", &arguments);
            let part = page["text"].as_str().unwrap();
            assert!(!part.is_empty() && part.len() <= limit.unwrap_or(65_536));
            assert_eq!((&page["offset"], &page["size"]), (&offset, &json!(text.len())));
            whole.push_str(part);
            offset = page["next_offset"].clone();
        }
        assert!(whole == text, "{limit:?}");
    }
    let page = answer(&mut desk, "workspace_read", &json!({ "path": "none.txt" }));
    assert_eq!((&page["text"], &page["next_offset"]), (&json!(""), &Any::Null));
}
